"""Whether a repository is public, as the service that keeps it says. (Source: mcp-tools 8.2.)

G12  GitHub, GitLab and Bitbucket are asked without any credential; no other host is asked at all.
G13  Only a clear answer is one: what fails, or says something else, leaves it unknown.
"""

import enum
from collections.abc import Mapping
from urllib.parse import quote

import attrs


class Visibility(enum.Enum):
    """Who can see a repository."""

    PUBLIC = "public"
    PRIVATE = "private"
    UNKNOWN = "unknown"


@attrs.frozen
class Question:
    """What to ask about a repository: a provider, and the path below its interface's address."""

    provider: str
    path: str


@attrs.frozen
class Answer:
    """What a provider answered: a status, and the JSON object that came with it, if one did."""

    status: int
    content: Mapping[str, object] = attrs.field(factory=dict, repr=False)


@attrs.frozen
class Verdict:
    """What is known. `wrong` says why it is not more."""

    provider: str
    visibility: Visibility = Visibility.UNKNOWN
    wrong: str | None = None


def question(repository: str) -> Question | None:
    """Return how to ask about the repository `host/owner/...`, or None if nobody can be (G12)."""
    host, _, path = repository.partition("/")
    is_plain = path.count("/") == 1
    match host:
        case "github.com" if is_plain:
            return Question("github", f"/repos/{quote(path)}")
        case "gitlab.com" if "/" in path:
            return Question("gitlab", f"/api/v4/projects/{quote(path, safe='')}")
        case "bitbucket.org" if is_plain:
            return Question("bitbucket", f"/2.0/repositories/{quote(path)}")
    return None


def verdict(asked: Question, answer: Answer) -> Verdict:
    """Return what `answer` says about the repository (G13)."""
    if answer.status == 404:
        return Verdict(asked.provider, Visibility.PRIVATE)
    if answer.status != 200:
        return Verdict(asked.provider, wrong=f"{asked.provider} answered {answer.status}.")
    visibility = _told(asked.provider, answer.content)
    wrong = None
    if visibility is Visibility.UNKNOWN:
        wrong = f"{asked.provider} did not say whether it is public."
    return Verdict(asked.provider, visibility, wrong)


def _told(provider: str, content: Mapping[str, object]) -> Visibility:
    if provider == "github":  # it shows a stranger nothing that is private
        return Visibility.PUBLIC
    says: object = content.get("visibility")
    if provider == "bitbucket":
        says = {False: "public", True: "private"}.get(content.get("is_private") is True)
        says = says if isinstance(content.get("is_private"), bool) else None
    if says == "public":
        return Visibility.PUBLIC
    return Visibility.PRIVATE if says in ("private", "internal") else Visibility.UNKNOWN
