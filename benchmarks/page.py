"""How large is the page of a model with 144 heads, and how fast is it built and opened?

    python benchmarks/page.py [RUN] [--keep FOLDER]

Without RUN, a network of 6 + 6 layers with 8 heads and random weights goes through all stages
of `headcount run` in their smallest size, with 20 attention examples: what it says is
nonsense, but its Results have the shape of a real run's. Built is what `headcount report
--no-figures` builds, in a process of its own whose peak memory is read. Opened is the page
in headless chromium, five times; told is the median of DOMContentLoaded since the navigation
began, and of what its main thread computed by then. The targets are 2 MB with attention
examples and 1 MB without, 5 s, 500 MB, and 1 s.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SHAPE = {
    "network.encoder_layers": 6,
    "network.decoder_layers": 6,
    "network.heads": 8,
    "network.width": 64,
    "training.updates": 2,
    "training.warmup": 1,
    "training.average": 1,
    "training.validate_every": 2,
    "corpus.sentences": 600,
    "evaluate.sentences": 10,
    "score.sentences": 10,
    "prune.sentences": 6,
    "prune.draws": 2,
    "relevance.sentences": 6,
    "reliability.sentences": 4,
    "reliability.curve_sentences": 2,
    "roles.sentences": 60,
    "attention_examples.sentences": 20,
    "attention_examples.text": '"reference"',
}
BUILD = """
import resource, sys, time
from pathlib import Path
from headcount.reports.page import build_page
started = time.perf_counter(), time.process_time()
build_page(Path(sys.argv[1]))
ended = time.perf_counter(), time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(ended[0] - started[0], ended[1] - started[1], peak)
"""
OPENS = 5


def made_run(folder: Path) -> Path:
    """Send a large network with random weights through a run in its smallest size."""
    words = [f"--set={name}={value}" for name, value in SHAPE.items()]
    command = [sys.executable, "-m", "headcount", "run", "--preset", "nano", "-o", str(folder)]
    subprocess.run([*command, *words], check=True)
    return folder


def built(run: Path) -> tuple[float, float, int]:
    """Return seconds to build the page, on the clock and of the processor, and peak bytes."""
    arguments = [sys.executable, "-c", BUILD, str(run)]
    out = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    seconds, processor, octets = out.split()
    return float(seconds), float(processor), int(octets)


def opened(page: Path) -> list[tuple[float, float]]:
    """Return milliseconds until DOMContentLoaded, and those the page's thread computed by then."""
    from playwright.sync_api import sync_playwright

    told = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times = []
        for _ in range(OPENS):
            sheet = browser.new_page()
            devtools = sheet.context.new_cdp_session(sheet)
            devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
            sheet.goto(page.as_uri(), wait_until="domcontentloaded")
            found = devtools.send("Performance.getMetrics")["metrics"]
            busy = next(it["value"] for it in found if it["name"] == "TaskDuration")
            times.append((float(sheet.evaluate(told)), 1000 * busy))
            sheet.close()
        browser.close()
    return times


def measured(run: Path) -> dict[str, Any]:
    """Return all numbers of one run's page."""
    seconds, processor, memory = built(run)
    page = run / "report.html"
    html = page.read_bytes()
    attention = sum(
        len(found)
        for pattern in (rb'(?s)id="attention">(.*?)</script>', rb"(?s)<noscript>(.*?)</noscript>")
        for found in re.findall(pattern, html)
    )
    times = opened(page)
    return {
        "page_bytes": len(html),
        "attention_bytes": attention,
        "without_attention_bytes": len(html) - attention,
        "build_seconds": round(seconds, 2),
        "build_processor_seconds": round(processor, 2),
        "build_peak_bytes": memory,
        "dom_content_loaded_ms": round(statistics.median(it for it, _ in times)),
        "dom_content_loaded_ms_all": [round(it) for it, _ in times],
        "dom_content_loaded_processor_ms": round(statistics.median(it for _, it in times)),
        "own_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    """Read the command line, measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--keep", type=Path, help="make the run here and leave it there")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(measured(arguments.run.resolve()), indent=2))
        return
    with tempfile.TemporaryDirectory() as place:
        run = made_run(arguments.keep or Path(place) / "run")
        print(json.dumps(measured(run.resolve()), indent=2))


if __name__ == "__main__":
    main()
