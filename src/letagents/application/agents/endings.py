"""Ending tasks that were begun, and waiting until they have ended."""

import asyncio
from typing import Any


async def end_all(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel tasks, and return once all of them are over; how they ended disturbs nobody."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def until_one_is_over(*tasks: "asyncio.Future[Any]") -> None:
    """Return once the first of them is over and the others are ended."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end_all(*tasks)
