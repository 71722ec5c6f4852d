#!/bin/sh
# Writes the time at which the newest pgBackRest backup ended, as a metric for Prometheus. A timer
# runs this script (docs/backup.md), and node_exporter reads the file
# (--collector.textfile.directory).
set -eu
folder=${1:-/var/lib/prometheus/node-exporter}
stop=$(pgbackrest --stanza=tapline --output=json info |
  python3 -c 'import json,sys
print(max([b["timestamp"]["stop"] for s in json.load(sys.stdin) for b in s["backup"]] or [0]))')
printf '# TYPE tapline_backup_completed_timestamp_seconds gauge
tapline_backup_completed_timestamp_seconds %s\n' "$stop" > "$folder/tapline-backup.prom.part"
mv "$folder/tapline-backup.prom.part" "$folder/tapline-backup.prom"
