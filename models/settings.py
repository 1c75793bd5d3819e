"""Settings: frozen, keyword-only, and strict about names."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import UsageError, did_you_mean

Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""A seed of generators: 32 bits, so that what is made of it fits into torch's 64."""


class Settings(BaseModel):
    """Base of every settings model: immutable; unknown keys, NaN and infinity are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def from_dict(cls, values: dict[str, Any], where: str = "settings") -> Self:
        """Check `values` and build the settings; `where` names their origin in errors.

        Raises:
            UsageError: an unknown key (with the closest known one) or a wrong value.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise UsageError(_first_problem(cls, error, where)) from None

    def with_changes(self, **changes: Any) -> Self:
        """Return a copy with some values changed and everything checked again."""
        return type(self).from_dict({**self.model_dump(), **changes})


def _first_problem(cls: type[Settings], error: ValidationError, where: str) -> str:
    """Say the first problem that pydantic found in one line."""
    problem = error.errors()[0]
    path = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        wrong = str(problem["loc"][-1])
        return f"{where}: unknown key '{path}'" + did_you_mean(wrong, _keys_at(cls, problem["loc"]))
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {path}: {what} (got {problem.get('input')!r})" if path else f"{where}: {what}"


def _keys_at(cls: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that are known where an unknown one was found."""
    for part in location[:-1]:
        field = cls.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type):
            break
        if issubclass(field.annotation, BaseModel):
            cls = field.annotation
    return list(cls.model_fields)
