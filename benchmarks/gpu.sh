#!/usr/bin/env bash
# Train `small` and `base` on one GPU, evaluate them, and measure what torch.compile gains.
#
#   benchmarks/gpu.sh FOLDER_WITH_MULTI30K [OUTPUT_FOLDER]
#
# Under ten minutes on one H100- or H200-class GPU; each training has a limit of its own, so a
# slower GPU ends in time with a weaker model. Needs headcount installed (or this checkout as
# `headcount` on PYTHONPATH) and a CUDA build of torch.
set -euo pipefail

data=${1:?name the folder that holds the files of Multi30k}
out=${2:-runs/gpu}
command="python3 -m headcount"

nvidia-smi --query-gpu=name,memory.total --format=csv,noheader
$command data fetch multi30k --from "$data"

# Larger batches fill the GPU; the updates are fewer by the same factor. An epoch has about 36 of
# them, and after ten `small` reads every batch twice, so an update takes longer from then on. The
# rate of `small` falls over the last half of its updates, so they had better end before the limit,
# which also holds compiling and validations, but neither the start nor the two last measurements.
train() { # name preset minutes settings...
    local name=$1 preset=$2 minutes=$3
    shift 3
    $command train --preset "$preset" --device cuda -o "$out/$name" \
        --set training.minutes="$minutes" "$@"
}

train small small 2 --set training.batch_tokens=16384 --set training.updates=1400 \
    --set training.warmup=140 --set training.validate_every=200
train small-compiled small 2 --set training.batch_tokens=16384 --set training.updates=1400 \
    --set training.warmup=140 --set training.validate_every=200 --set training.compile=true
train base base 3 --set training.batch_tokens=16384 --set training.updates=2000 \
    --set training.warmup=400 --set training.validate_every=200

# BLEU on the test split by greedy and beam search, as sacrebleu's own command line scores it.
gzip -dc "$data/test_2016_flickr.de.gz" > "$out/reference.de"
for name in small base; do
    for beam in 1 5; do
        gzip -dc "$data/test_2016_flickr.en.gz" |
            $command translate "$out/$name" --beam "$beam" --device cuda > "$out/$name.$beam.de"
        printf '%s beam %s: ' "$name" "$beam"
        python3 -m sacrebleu "$out/reference.de" -i "$out/$name.$beam.de" -b -w 2
    done
done

# Target tokens a second, the median of the second half of each training.
python3 - "$out" <<'PYTHON'
import json, pathlib, statistics, sys

for name in ("small", "small-compiled", "base"):
    log = pathlib.Path(sys.argv[1]) / name / "log.jsonl"
    speeds = [json.loads(line)["tokens_per_second"] for line in log.read_text().splitlines()]
    median = statistics.median(speeds[len(speeds) // 2 :])
    print(f"{name:15} {len(speeds):6} updates {median:12,.0f} target tokens a second")
PYTHON
