"""Signing in with a device, from a client through a server to a service that the test plays."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import attrs
import httpx
import pytest
from tests.contract.served import hosting
from tests.e2e.chats import chatting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.own_sign_ins import OwnSignInsFile
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.server import HostedServer
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.memory import MemoryState
from letagents.application.credentials import Credentials
from letagents.application.directory import Directory
from letagents.application.onboarding import shown_of
from letagents.application.server.hosting import Hosting
from letagents.application.signing_in import SignedIn, SigningIn
from letagents.domain.accounts import Account
from letagents.domain.errors import RoomsUnavailable, SignInFirst
from letagents.domain.ids import RoomId
from letagents.domain.sign_in import Begun, Over, SignInUnavailable, UnknownSignIn, Waiting
from letagents.entrypoints.server.app import application
from letagents.ports.people import Comer
from letagents.settings import Settings
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.client import open_letagents

SECOND = timedelta(seconds=1)
ADA = Account(
    account_id="",
    login="Ada",
    display_name="Ada L.",
    provider="github",
    provider_user_id="17",
    avatar_url="https://example.org/ada.png",
)
URL = "http://rooms.test"


@attrs.define
class Played:
    """A service that says what the test told it to say."""

    says: list[Waiting | Over | Comer | SignInUnavailable] = attrs.field(factory=list)
    asked: list[str] = attrs.field(factory=list)

    async def begin(self) -> Begun:
        return Begun("device code", "ABCD-1234", "https://example.org", 900 * SECOND, 5 * SECOND)

    async def poll(self, request_id: str) -> Waiting | Over | Comer:
        self.asked.append(request_id)
        said = self.says.pop(0)
        if isinstance(said, SignInUnavailable):
            raise said
        return said


@attrs.frozen
class Machine:
    """A machine that signs in, and what it signs in at."""

    signing: SigningIn
    directory: Directory
    state: MemoryState
    played: Played
    http: httpx.AsyncClient
    clock: ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def played() -> Played:
    return Played()


@pytest.fixture
def served(clock: ManualClock, played: Played) -> Hosting:
    return attrs.evolve(
        hosting(MemoryRooms(CountingIds(), clock), clock),
        accounts=MemoryAccounts(clock),
        people=played,
        logins=frozenset({"ada"}),
    )


@pytest.fixture
async def machine(
    served: Hosting, played: Played, clock: ManualClock, tmp_path: Path
) -> AsyncIterator[Machine]:
    state = MemoryState()
    transport = httpx.ASGITransport(application(served))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http:
        own = OwnSignInsFile(tmp_path / "server-owner.json")
        credentials = Credentials(state, clock, URL, None, own)
        server = HostedServer(Calls(http, credentials))
        signing = SigningIn(state, clock, URL, server)
        yield Machine(signing, Directory(credentials, server), state, played, http, clock)


@pytest.mark.anyio
async def test_a_person_who_types_the_code_is_signed_in(machine: Machine) -> None:
    machine.played.says = [Waiting("pending", 5 * SECOND), Comer(ADA)]

    begun, was_begun = await machine.signing.begin(RoomId("harbour"), anew=False)
    again, is_reused = await machine.signing.begin(None, anew=False)
    waiting = await machine.signing.poll(None)
    machine.clock.pass_by(5 * SECOND)
    signed_in = await machine.signing.poll(None)

    assert (begun["user_code"], was_begun) == ("ABCD-1234", False)
    assert (again, is_reused) == (begun, True)
    assert isinstance(waiting, Waiting)
    assert isinstance(signed_in, SignedIn)
    assert (signed_in.account.login, signed_in.suggested_room) == ("Ada", "harbour")
    account = await machine.directory.verified()
    assert account is not None
    assert account.login == "Ada"
    extra = (await machine.state.read()).extra
    assert "pending_device_auth" not in extra
    assert machine.played.asked == ["device code", "device code"]


@pytest.mark.anyio
async def test_what_can_fetch_a_token_is_shown_to_nobody(machine: Machine) -> None:
    begun, _ = await machine.signing.begin(None, anew=False)

    assert "request_id" in begun
    assert "request_id" not in shown_of(begun)


@pytest.mark.anyio
async def test_what_is_asked_too_often_is_not_asked_there(machine: Machine) -> None:
    machine.played.says = [Waiting("slow_down", 5 * SECOND), Waiting("pending", 5 * SECOND)]
    begun, _ = await machine.signing.begin(None, anew=False)
    path = f"/auth/device/poll/{begun['request_id']}"

    first = await machine.http.get(path)
    soon = await machine.http.get(path)
    machine.clock.pass_by(10 * SECOND)
    later = await machine.http.get(path)

    assert first.json() == {"status": "slow_down", "interval": 10, "expires_in": 900}
    assert (soon.status_code, soon.json()) == (
        429,
        {"error": "Polling too quickly", "interval": 10},
    )
    assert later.json() == {"status": "pending", "interval": 10, "expires_in": 890}


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "code"), [("denied", 403), ("expired", 410)])
async def test_what_comes_to_nothing_is_forgotten(machine: Machine, status: str, code: int) -> None:
    machine.played.says = [Over(status)]
    begun, _ = await machine.signing.begin(None, anew=False)
    path = f"/auth/device/poll/{begun['request_id']}"

    first = await machine.http.get(path)
    again = await machine.http.get(path)

    assert (first.status_code, first.json()) == (code, {"status": status})
    assert again.status_code == 404
    with pytest.raises(UnknownSignIn):
        await machine.signing.poll(None)
    assert await machine.signing.pending() is None


@pytest.mark.anyio
@pytest.mark.rule("Q31")
async def test_whom_the_server_does_not_name_it_does_not_admit(
    machine: Machine, served: Hosting
) -> None:
    machine.played.says = [Comer(attrs.evolve(ADA, login="eve", provider_user_id="666"))]
    await machine.signing.begin(None, anew=False)

    stands = await machine.signing.poll(None)

    assert stands == Over("denied")
    assert await served.accounts.known() == ()


@pytest.mark.anyio
async def test_a_sign_in_ends_by_itself(machine: Machine) -> None:
    begun, _ = await machine.signing.begin(None, anew=False)
    machine.clock.pass_by(901 * SECOND)

    answer = await machine.http.get(f"/auth/device/poll/{begun['request_id']}")
    assert answer.status_code == 404
    assert answer.json() == {"error": "Unknown or expired device authorization request"}
    assert await machine.signing.pending() is None
    _, is_reused = await machine.signing.begin(None, anew=False)
    assert not is_reused


@pytest.mark.anyio
@pytest.mark.rule("Q29")
async def test_a_service_that_does_not_answer_ends_nothing(machine: Machine) -> None:
    machine.played.says = [SignInUnavailable("away", remedy="later"), Comer(ADA)]
    await machine.signing.begin(None, anew=False)

    with pytest.raises(RoomsUnavailable):
        await machine.signing.poll(None)
    machine.clock.pass_by(5 * SECOND)

    assert isinstance(await machine.signing.poll(None), SignedIn)


@pytest.mark.anyio
async def test_who_is_not_signed_in_is_told_where_they_can_be(machine: Machine) -> None:
    answer = await machine.http.post("/rooms/github.com/o/r/join")

    assert answer.status_code == 401
    told = answer.json()
    assert (told["error"], told["code"]) == ("auth_required", "NOT_AUTHENTICATED")
    assert told["room_id"] == "github.com/o/r"
    path = "/auth/device/start?room_id=github.com%2Fo%2Fr"
    assert told["device_flow_url"].endswith(path)
    assert (await machine.http.post(path)).status_code == 201


@pytest.mark.anyio
async def test_a_server_without_such_a_service_says_so(clock: ManualClock) -> None:
    served = hosting(MemoryRooms(CountingIds(), clock), clock)
    transport = httpx.ASGITransport(application(served))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as http:
        answer = await http.post("/auth/device/start")

    assert answer.status_code == 503
    assert answer.json()["error"] == "Device authorization is currently unavailable."


@pytest.mark.anyio
async def test_the_whole_answer_of_a_sign_in_is_as_older_clients_know_it(
    machine: Machine, served: Hosting
) -> None:
    machine.played.says = [Comer(ADA)]
    started = await machine.http.post("/auth/device/start?room_id=harbour")
    told = started.json()
    done = (await machine.http.get(f"/auth/device/poll/{told['request_id']}")).json()
    (known,) = await served.accounts.known()

    assert started.status_code == 201
    assert len(told.pop("request_id")) == 32
    assert told == {
        "user_code": "ABCD-1234",
        "verification_uri": "https://example.org",
        "expires_in": 900,
        "interval": 5,
    }
    assert {name for name in done if name != "account"} == {
        "status",
        "letagents_token",
        "owner_token_id",
        "oauth_token_expires_at",
    }
    assert done["account"] == {
        "id": known.account.account_id,
        "login": "Ada",
        "display_name": "Ada L.",
        "avatar_url": "https://example.org/ada.png",
        "provider": "github",
        "provider_user_id": "17",
    }


# --- a room that asks for it


HARBOUR = RoomId("harbour")


async def _asked_to_sign_in(machine: Machine, room_id: RoomId) -> SignInFirst:
    with pytest.raises(SignInFirst) as told:
        await HostedRooms(Calls(machine.http, machine.directory.credentials)).join(room_id)
    return told.value


@pytest.mark.anyio
async def test_a_room_that_asks_for_a_sign_in_says_where(machine: Machine) -> None:
    told = await _asked_to_sign_in(machine, HARBOUR)

    assert told.code == "auth_required"
    assert told.room_id == "harbour"
    assert told.start == "http://localhost:3001/auth/device/start?room_id=harbour"


@pytest.mark.anyio
async def test_a_sign_in_for_a_room_is_begun_once_and_another_for_another_room(
    machine: Machine,
) -> None:
    begun = await machine.signing.begin_for(HARBOUR, None)
    again = await machine.signing.begin_for(HARBOUR, None)
    other = await machine.signing.begin_for(RoomId("shed"), None)

    assert again == begun
    assert other["request_id"] != begun["request_id"]
    assert other["suggested_room_id"] == "shed"


@pytest.mark.parametrize(
    ("start", "path"),
    [
        (f"{URL}/sign/in?room_id=harbour", "/sign/in"),
        ("https://evil.test/sign/in", "/auth/device/start"),
        ("https://rooms.test/sign/in", "/auth/device/start"),
        ("//rooms.test/sign/in", "/auth/device/start"),
        ("http://rooms.test:x", "/auth/device/start"),
        ("/sign/in", "/auth/device/start"),
    ],
)
@pytest.mark.anyio
async def test_a_sign_in_is_begun_at_the_server_of_the_rooms_and_nowhere_else(
    start: str, path: str
) -> None:
    asked: list[httpx.URL] = []

    def says(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return httpx.Response(503)

    async with httpx.AsyncClient(transport=httpx.MockTransport(says), base_url=URL) as http:
        with pytest.raises(RoomsUnavailable):
            await HostedServer(Calls(http, lambda: None)).begin_sign_in(HARBOUR, start)

    assert [(one.host, one.path) for one in asked] == [("rooms.test", path)]
    assert asked[0].params["room_id"] == "harbour"


@pytest.mark.anyio
async def test_an_agent_that_enters_such_a_room_is_told_what_its_person_types(
    machine: Machine, tmp_path: Path
) -> None:
    rooms = HostedRooms(Calls(machine.http, machine.directory.credentials))
    settings = Settings(home=tmp_path)
    async with open_letagents(settings, state=machine.state, rooms=rooms) as opened:
        letagents = attrs.evolve(opened, directory=machine.directory)
        async with chatting(letagents) as chat:
            told = await chat.call("join_room", name="harbour")
            refused = await chat.refused("register_agent_session", registration_key="a key")
            machine.played.says = [Comer(ADA)]
            signed_in = await chat.call("poll_device_auth", auto_join=True)

    assert (told["success"], told["error"], told["room_id"]) == (False, "auth_required", "harbour")
    assert told["next_step"] == "poll_device_auth"
    assert told["pending_device_auth"]["user_code"] == "ABCD-1234"
    assert "request_id" not in told["pending_device_auth"]
    assert "room_id" in refused
    assert signed_in["auto_joined_room"]["room_id"] == "harbour"
