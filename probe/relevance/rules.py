"""LRP rules as a mode that lasts as long as its `with`.

    with RelevanceRules() as rules:
        logits = translator.logits(batch, rules.as_weights(gates))
    (relevance_per_gate,) = torch.autograd.grad(logits[0, 0].max(), gates)

Inside, every call of a torch function whose arguments are activations is looked up by its
name, and the operations of `operations.py` put their own backward in place of autograd's.
No module is touched and no function is patched: a graph that was built inside keeps its
rules, and nothing else remembers them, whether the body ended well or raised. The mode
belongs to its thread. Where two are nested, the inner one rules alone.

Activations are tensors that can pass a gradient and are not weights. So that there is a
graph even where all weights are frozen, what comes out of an embedding table becomes a leaf
that wants a gradient. Parameters, whatever is computed from parameters alone, and gates
that were announced by `as_weights` are weights: relevance passes them by, and the product
with a gate is a weight times an input, whose gate times its derivative is the relevance of
that head's output.

A function that has no rule is refused, not passed through: the plain gradient of something
unknown would look like relevance and be wrong. `check` refuses the same for custom autograd
functions and compiled graphs, which no mode can see.

Pitfalls. Half precision underflows in the backward of a deep network: compute in float32
at least. Relevance through a decoder that caches keys and values ends at the cache: run
the whole prefix, teacher-forced. Captum's `LRP` has no rule for attention, layer norm or
embeddings and does not accept a module that is used twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ...models.errors import HeadcountError
from .backward import ReplacedBackward
from .ledger import Ledger

Softmax = Literal["attnlrp", "cp"]


class RuleError(HeadcountError):
    """A network does something that no relevance rule is known for."""


@dataclass(frozen=True)
class Call:
    """One call of a torch function that touches activations.

    Args:
        function, name, args, kwargs: the call.
        active: the activations among the arguments, in order; one may stand there twice.
    """

    function: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    active: tuple[Tensor, ...]

    def __call__(self) -> Any:
        """Call the function as it is, unseen by any mode."""
        with torch._C.DisableTorchFunction():
            return self.function(*self.args, **self.kwargs)

    def on(self, change: Callable[[Tensor], Tensor]) -> Any:
        """Call the function with its activations changed."""
        places = {id(tensor) for tensor in self.active}

        def changed(value: Any) -> Any:
            if isinstance(value, Tensor):
                return change(value) if id(value) in places else value
            return type(value)(map(changed, value)) if type(value) in (list, tuple) else value

        with torch._C.DisableTorchFunction():
            kwargs = {name: changed(value) for name, value in self.kwargs.items()}
            return self.function(*changed(self.args), **kwargs)

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument, wherever the caller put it."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)


Rule = Callable[["RelevanceRules", Call], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Let a function be the rule of torch functions with these names."""

    def join(member: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, member))
        return member

    return join


class RelevanceRules(TorchFunctionMode):
    """Replaces the backward of torch functions inside its `with`.

    Args:
        softmax: `attnlrp` sends relevance through the attention weights to queries and keys
            (Achtibat et al. 2024); `cp` holds the weights constant, so that all of a head's
            relevance goes to its values (conservative propagation, Ali et al. 2022).
        epsilon: stabiliser of linear maps and matrix products. 0, the default, is exact and
            safe here, since the gradient form divides by no activation; a larger one damps
            outputs that are small sums of large terms and absorbs their relevance.
        ledger: where to note what is absorbed; None spares the time.
    """

    def __init__(
        self, softmax: Softmax = "attnlrp", epsilon: float = 0.0, ledger: Ledger | None = None
    ) -> None:
        super().__init__()
        self.softmax = softmax
        self.epsilon = epsilon
        self.ledger = ledger
        # By id, and kept alive, so that no id is given to another tensor meanwhile.
        self._weights: dict[int, Tensor] = {}

    def as_weights(self, tensor: Tensor) -> Tensor:
        """Return a tensor after noting that it, and all made of it, is no activation."""
        self._weights[id(tensor)] = tensor
        return tensor

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call one torch function by its rule."""
        kwargs = kwargs or {}
        if not torch.is_grad_enabled():
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        graphed = [it for it in tensors_in((args, kwargs)) if it.requires_grad]
        active = tuple(it for it in graphed if not self._is_weight(it))
        if not active and name != "embedding":
            made = func(*args, **kwargs)
            if graphed:
                for tensor in tensors_in(made):
                    self.as_weights(tensor)
            return made
        call = Call(func, name, args, kwargs, active)
        if name in RULES:
            return RULES[name](self, call)
        made = call()
        if any(it.requires_grad for it in tensors_in(made)):
            raise RuleError(
                f"no relevance rule is known for {_described(func)}: relevance of this network "
                "would be wrong, so it is refused; add a rule to probe/relevance/operations.py"
            )
        return made

    def check(self, output: Tensor) -> None:
        """Refuse a graph with nodes that torch functions alone cannot have made.

        Raises:
            RuleError: a custom autograd function or a compiled graph is part of it.
        """
        for node in nodes_below(output):
            custom = isinstance(node, torch.autograd.function.BackwardCFunction)
            if custom and not issubclass(type(node)._forward_cls, ReplacedBackward):
                raise RuleError(
                    f"no relevance rule is known for the custom backward {type(node).__name__}; "
                    "run the model uncompiled and with its plain torch functions"
                )

    def _is_weight(self, tensor: Tensor) -> bool:
        return isinstance(tensor, nn.Parameter) or id(tensor) in self._weights


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)


def nodes_below(output: Tensor) -> Iterable[Any]:
    """Return every node of the graph that made a tensor."""
    seen, open_nodes = set(), [output.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node is not None and node not in seen:
            seen.add(node)
            open_nodes += [below for below, _ in node.next_functions]
    return seen


def _described(function: Any) -> str:
    name = torch.overrides.resolve_name(function)
    return name or getattr(function, "__qualname__", repr(function))
