"""What `headcount roles` prints of a Result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..analyses.result import Result

STRONGEST = 10  # head-relation pairs that are printed


def show(result: Result) -> None:
    """Print the roles of every head, and the strongest pairs of a head and a relation."""
    from .records import records_of

    records = records_of(result)
    click.echo(f"{result.tables['roles'].caption} {result.tables['roles'].n}.\n")
    by_head: dict[str, list[str]] = {}
    for row in records["roles"]:
        name = "{site}.{layer}.{head}".format(**row)
        by_head.setdefault(name, []).append(f"{row['role']} ({row['share']:.0%})")
    for name, found in by_head.items():
        click.echo(f"{name:14} {'; '.join(found)}")
    total = len({(row["site"], row["layer"], row["head"]) for row in records["offsets"]})
    click.echo(f"{len(by_head)} of {total} heads have a role")
    click.echo(_positional(records))
    best = [row for row in records["arcs"] if row["chosen"]]
    best.sort(key=lambda row: -row["effect"])
    if best:
        click.echo("strongest pairs, chosen on one half of the sentences and scored on the other:")
    for row in best[:STRONGEST]:
        name = "{site}.{layer}.{head}".format(**row)
        strongest = max(row["baseline"], row["chance"], row["floor"])
        click.echo(
            f"  {name:14} {row['kind']}, {row['direction']}: {row['accuracy']:.1%} against "
            f"{strongest:.1%}, lead {row['effect']:+.3f} "
            f"[{row['effect_low']:+.3f}, {row['effect_high']:+.3f}], p {row['p_holm']:.1g}"
        )
    for row in records.get("alignment", []):
        if (row["chosen"] or row["aligner"] == "mean") and (
            row["asked"] == "said" or row["map"] == "weights"  # the others are in the table
        ):
            click.echo(
                f"alignment by {row['map']}, {row['aligner']}, {row['model']} model, where a word "
                f"is {row['asked']}: precision {row['precision']:.1%}, recall "
                f"{row['recall']:.1%}, error rate {row['error_rate']:.1%} "
                f"[{row['error_rate_low']:.1%}, {row['error_rate_high']:.1%}]"
            )
    _show_tests(records)
    for remark in result.remarks:
        click.echo(remark)


def _positional(records: dict[str, list[dict[str, Any]]]) -> str:
    """Say which heads look at one fixed offset, or that none does and which comes nearest."""
    placed = [row for row in records["roles"] if row["family"] == "position"]
    if placed:
        names = ", ".join("{site}.{layer}.{head} ({role})".format(**row) for row in placed)
        return f"positional heads: {names}\n"
    near = [row for row in records["offsets"] if row["offset"] is not None and row["share"]]
    if not near:
        return "no head was asked where it looks\n"
    best = max(near, key=lambda row: row["share"])
    name = "{site}.{layer}.{head}".format(**best)
    offset = f"{best['offset']:+d}" if best["offset"] else "0"
    return (
        "no head looks at one offset with 90 % of its queries; the closest is "
        f"{name}, {best['share']:.0%} at {offset}\n"
    )


def _show_tests(records: dict[str, list[dict[str, Any]]]) -> None:
    """Print what closing heads did, what became of roles, and whether other seeds agree."""
    for row in records.get("causal", []):
        has = "with the role" if row["held"] else "best for it, without the role"
        click.echo(
            f"{row['phenomenon']}: without {row['heads']} ({has} {row['kind']}, "
            f"{row['direction']}) accuracy {row['accuracy']:.1%} -> {row['accuracy_closed']:.1%}, "
            f"{row['margin_excess']:+.3f} nats [{row['margin_excess_low']:+.3f}, "
            f"{row['margin_excess_high']:+.3f}] more than others, p {row['p']:.2g}"
            + (
                ""
                if row["bleu"] is None
                else f", BLEU {row['bleu']:.1f} -> {row['bleu_closed']:.1f}"
            )
        )
    for row in records.get("kept", []):
        click.echo(
            f"{row['model']} model: {row['role']}: {row['heads']} heads had it, {row['removed']} "
            f"removed, {row['stayed']} still have it, {row['gained']} gained it"
        )
    for row in records.get("agreement", []):
        if row["site"] == "all":
            click.echo(
                f"seeds, {row['measure']}: {row['value']:.2f} [{row['low']:.2f}, "
                f"{row['high']:.2f}], by chance {row['by_chance']:.2f}, p {row['p']:.2g}"
            )
    for row in records.get("unlike", []):
        if row["site"] == "all":
            bounds = (
                ""
                if row["share_low"] is None
                else (f" [{row['share_low']:.0%}, {row['share_high']:.0%}]")
            )
            click.echo(
                f"layers with one or two heads unlike the rest, {row['network']}: "
                f"{row['share']:.0%}{bounds}, by chance {row['by_chance']:.0%}, p {row['p']:.2g}"
            )
