#!/bin/sh
# A run on Slurm: plan, an array of shards, finish. sbatch slurm.sh makes the plan and starts the others: see README.md.
#SBATCH --job-name=velum --cpus-per-task=2 --mem=2G --time=02:00:00
set -eu
ARCHIVE=/scratch/archive
MASKED=/scratch/masked
SHARDS=64

if [ "${1:-}" = shard ]; then
    code=0
    srun velum run --quiet --plan "$MASKED" --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" || code=$?
    case $code in
    0) exit 0 ;;
    10 | 12 | 13 | 15) exit "$code" ;; # no second try mends these
    esac
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" # a killed or interrupted shard goes on
    fi
    exit "$code"
fi
velum run plan --in "$ARCHIVE" --out "$MASKED" --config /etc/velum/night.yaml
shards=$(sbatch --parsable --requeue --array="1-$SHARDS" "$0" shard)
sbatch --dependency="afterok:$shards" --wrap "velum run finish $MASKED"
