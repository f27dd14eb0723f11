"""How help looks: flags without a type, and the arguments of a command as its texts name them."""

from typing import Any

from typer.core import TyperCommand


class Plain(TyperCommand):
    """A command whose help shows neither `<bool>` nor `{NAME}` nor `[[TICKET]]`."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters; flags take no value, so that there is nothing to name."""
        return without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line, each in brackets once where it may be left away."""
        return [plain(piece) for piece in super().collect_usage_pieces(ctx)]


def without_types(params: Any) -> Any:
    """The same parameters, flags among them without the name of a value."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


def plain(piece: str) -> str:
    """A word of the usage line.

    >>> plain("{NAME}"), plain("[[TICKET]]"), plain("[[OBJECTIVE=VALUE]…]..."), plain("[OPTIONS]")
    ('NAME', '[TICKET]', '[OBJECTIVE=VALUE]…', '[OPTIONS]')
    """
    dots = piece.endswith("...")
    word = piece.removesuffix("...")
    if word.startswith("{") and word.endswith("}"):
        word = word[1:-1]
    if word.startswith("[["):
        word = word[1:-1]
    return word + ("..." if dots and not word.endswith("…") else "")
