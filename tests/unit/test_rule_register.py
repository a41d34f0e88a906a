from collections import Counter

from tests import rule_register
from tests.rule_register import Proof, Rule

RULES = rule_register.stated()
PROOFS = rule_register.proven()

SOURCE = '''\
"""Who works on a task.

L1  A task has at most one live lease.
L2  A live lease is renewed by its holder
    and by nobody else.
L10  Retired: a lease had no end.

Not a rule.
"""

class Leases:
    """A port.

        L3   A dead lease is free.
    """
'''

TESTS = """\
pytestmark = pytest.mark.rule("L4")

@pytest.mark.rule("L1", "L2")
def test_one_holder() -> None: ...

class LeaseContract:
    @rule("L3")
    async def test_a_dead_lease_is_free(self) -> None: ...

    @rule(fence=fences)
    def speak(self) -> None: ...
"""


def test_no_number_is_given_twice() -> None:
    given = Counter(rule.number for rule in RULES)

    assert [number for number, times in given.items() if times > 1] == []


def test_every_rule_is_proven_by_a_test() -> None:
    proven = {proof.number for proof in PROOFS}

    assert [r.number for r in RULES if not r.is_retired and r.number not in proven] == []


def test_every_proof_names_a_rule_that_holds() -> None:
    holding = {rule.number for rule in RULES if not rule.is_retired}

    assert [f"{p.number} in {p.test}" for p in PROOFS if p.number not in holding] == []


def test_the_page_of_rules_is_current() -> None:
    shown = rule_register.PAGE.read_text("utf-8")

    assert shown == rule_register.page(RULES, PROOFS), "docs/rules.md is old: run make docs"


def test_a_rule_is_read_from_any_docstring_and_over_its_wrapped_lines() -> None:
    rules = rule_register.rules_in(SOURCE, "leases.py")

    assert rules == [
        Rule("L1", "A task has at most one live lease.", "leases.py"),
        Rule("L2", "A live lease is renewed by its holder and by nobody else.", "leases.py"),
        Rule("L10", "Retired: a lease had no end.", "leases.py"),
        Rule("L3", "A dead lease is free.", "leases.py"),
    ]
    assert [rule.is_retired for rule in rules] == [False, False, True, False]


def test_a_proof_is_read_from_any_mark_and_says_where_it_stands() -> None:
    proofs = rule_register.proofs_in(TESTS, "test_leases.py")

    assert proofs == [
        Proof("L4", "test_leases.py"),
        Proof("L1", "test_leases.py::test_one_holder"),
        Proof("L2", "test_leases.py::test_one_holder"),
        Proof("L3", "test_leases.py::LeaseContract::test_a_dead_lease_is_free"),
    ]


def test_the_page_shows_each_rule_with_its_file_and_its_tests() -> None:
    shown = rule_register.page(
        [Rule("L1", "One lease.", "leases.py"), Rule("L2", "Retired: two.", "leases.py")],
        [Proof("L1", "test_leases.py::test_one"), Proof("L1", "test_leases.py::test_one")],
    )

    assert shown.partition("## ")[2] == (
        "leases.py\n\n**L1** One lease.\n\n- `test_leases.py::test_one`\n\n**L2** Retired: two.\n"
    )
