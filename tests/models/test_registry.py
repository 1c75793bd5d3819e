import pytest

from headcount.models.errors import UsageError, did_you_mean
from headcount.models.registry import Registry


@pytest.fixture
def family():
    registry = Registry("norm")

    @registry("layer")
    def layer():
        """Mean and variance.

        More of it.
        """

    @registry("rms")
    def rms():
        """Root mean square."""

    return registry


def test_members_come_in_the_order_in_which_they_joined(family):
    assert list(family) == ["layer", "rms"]
    assert len(family) == 2
    assert "rms" in family and "batch" not in family


def test_the_summary_is_the_first_line(family):
    assert family.summary("layer") == "Mean and variance."


def test_an_unknown_name_is_an_error_that_names_the_closest(family):
    with pytest.raises(UsageError, match=r"unknown norm 'layr' \(did you mean 'layer'\?\)"):
        family["layr"]


def test_a_name_joins_once(family):
    with pytest.raises(ValueError, match="registered twice"):
        family("rms")(lambda: None)


def test_without_a_close_name_all_are_listed():
    assert did_you_mean("zzz", ["b", "a"]) == " (known: a, b)"
