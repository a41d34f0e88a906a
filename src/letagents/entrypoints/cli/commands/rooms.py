"""Commands about what is said in rooms, and what they take."""

import argparse

from letagents.entrypoints.cli.parsing import Command, as_json, by_name, count, message_id, of_room


def _tail(tail: argparse.ArgumentParser) -> None:
    of_room(tail)
    tail.add_argument(
        "-n",
        dest="newest",
        metavar="N",
        type=count,
        default=20,
        help="so many of the newest messages first (20)",
    )
    tail.add_argument("--once", action="store_true", help="end after those")
    as_json(tail)


def _send(send: argparse.ArgumentParser) -> None:
    of_room(send)
    send.add_argument("text", metavar="TEXT", help="what to say; - reads standard input")
    send.add_argument(
        "--reply-to", metavar="msg_N", type=message_id, help="the message that you quote"
    )
    send.add_argument(
        "--thread", metavar="msg_N", type=message_id, help="a message of the thread to answer in"
    )
    send.add_argument(
        "--attach", metavar="FILE", action="append", default=[], help="a file to go with it"
    )
    by_name(send)
    send.add_argument("--key", help="repeating the call with the same key says it only once")
    send.add_argument("--create", action="store_true", help="make the room if it is not there")


def _search(search: argparse.ArgumentParser) -> None:
    of_room(search)
    words = "whole words that must all be there; 'a phrase' in quotes; begin*"
    search.add_argument("words", metavar="WORD", nargs="*", help=words)
    search.set_defaults(several="words")
    search.add_argument("--author", metavar="NAME", help="only what they said")
    search.add_argument(
        "--thread", metavar="msg_N", type=message_id, help="only the thread of that message"
    )
    search.add_argument("--since", metavar="TIME", help="only from then on, in UTC")
    search.add_argument("--until", metavar="TIME", help="only before then, in UTC")
    search.add_argument(
        "-n", dest="most", metavar="N", type=count, default=20, help="so many at most (20)"
    )
    as_json(search)


def _receipts(receipts: argparse.ArgumentParser) -> None:
    of_room(receipts)
    receipts.add_argument("message", metavar="msg_N", type=message_id, help="which message")
    as_json(receipts)


def _attachment(attachment: argparse.ArgumentParser) -> None:
    of_room(attachment)
    attachment.add_argument("message", metavar="msg_N", type=message_id, help="which message")
    attachment.add_argument(
        "attachment", metavar="att_N", nargs="?", default="att_1", help="which of its files"
    )
    attachment.add_argument("--to", metavar="PLACE", help="where to write it, else under its name")


COMMANDS = (
    Command(
        "rooms", "rooms", "list the rooms that this machine keeps, the latest active first", as_json
    ),
    Command(
        "tail", "tail", "show the newest messages of a room and follow it live, until Ctrl-C", _tail
    ),
    Command("send", "send", "say something in a room, as the person that you are", _send),
    Command("search", "search", "find what was said in a room, newest first", _search),
    Command(
        "receipts", "receipts", "show whom a message woke, and whether they have had it", _receipts
    ),
    Command("attachment", "attachments", "have a file that goes with a message", _attachment),
)
