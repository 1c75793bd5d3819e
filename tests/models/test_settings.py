import pytest
from pydantic import ValidationError

from headcount.models.errors import UsageError
from headcount.models.settings import Settings


class Inner(Settings):
    rate: float = 0.1


class Outer(Settings):
    steps: int = 10
    inner: Inner = Inner()


def test_unset_keys_keep_their_defaults():
    assert Outer.from_dict({"inner": {"rate": 1}}) == Outer(inner=Inner(rate=1.0))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"step": 3}, "run.toml: unknown key 'step' (did you mean 'steps'?)"),
        ({"inner": {"rat": 3}}, "run.toml: unknown key 'inner.rat' (did you mean 'rate'?)"),
        ({"zzz": 3}, "run.toml: unknown key 'zzz' (known: inner, steps)"),
    ],
)
def test_an_unknown_key_names_the_closest(values, line):
    with pytest.raises(UsageError) as error:
        Outer.from_dict(values, "run.toml")
    assert str(error.value) == line


def test_a_wrong_value_is_named_with_where_it_stands():
    with pytest.raises(UsageError, match=r"^run\.toml: inner\.rate: .*got 'fast'"):
        Outer.from_dict({"inner": {"rate": "fast"}}, "run.toml")


def test_settings_do_not_change_but_give_changed_copies():
    settings = Outer()
    with pytest.raises(ValidationError):
        settings.steps = 3
    assert settings.with_changes(steps=3).steps == 3
    assert settings.steps == 10
    with pytest.raises(UsageError):
        settings.with_changes(steps="many")
