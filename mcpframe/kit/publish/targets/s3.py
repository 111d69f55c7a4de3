"""S3 and stores with its commands: a script for `aws`, with type, encoding and caching of each file.

Files whose names have a hash go first, and are not uploaded again; pages and manifests go last. Nothing is removed, as
pages of the earlier version may be open.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from mcpframe.kit.bundle.assembly.installable import WORKER
from mcpframe.kit.publish.targets.deployment import FRAMED_BY_ANY, NOT_SERVED, Deployment, PublishTarget
from mcpframe.kit.publish.targets.own_files import MARKED
from mcpframe.kit.static_hosts.object_store import OBJECT_STORE
from mcpframe.kit.static_hosts.rules import FRESH, HASHED, IMMUTABLE, TYPES

_NAME = "publish-s3.sh"
_TYPES = {**TYPES, "html": "text/html", "svg": "image/svg+xml", "bin": "application/octet-stream"}


def _files(site: Deployment) -> dict[Path, str]:
    folder = shlex.quote(site.folder)
    hashed = "|".join(["_mcpframe/*", *(f"*/{pattern.replace('**', '*')}" for pattern in HASHED)])
    not_served = "|".join(shlex.quote(name) for name in sorted(NOT_SERVED))
    types = "\n".join(f"{ending} {kind}" for ending, kind in _TYPES.items())
    typed = [f"'*.{ending}'" for ending in _TYPES]
    others = " ".join(f"! -name {pattern}" for pattern in typed)
    without = " ".join(f"--exclude {pattern}" for pattern in typed)
    text = f"""#!/bin/sh
{MARKED}# Uploads a built folder with the AWS command line: sh {_NAME} s3://BUCKET[/PREFIX] [OPTION-OF-AWS…]
set -eu
case "${{1:-}}" in
  s3://?*) to=${{1%/}}; shift ;;
  *) echo "usage: sh {_NAME} s3://BUCKET[/PREFIX] [OPTION-OF-AWS...]" >&2; exit 2 ;;
esac
unset CDPATH # else cd may print, and lead elsewhere
cd "$(dirname "$0")"
folder={folder}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM

# A file that the build has compressed is stored so, as S3 compresses nothing.
(cd "$folder" && find . -type f) > "$stage/files"
while IFS= read -r path; do
  path=${{path#./}}
  case "$path" in
    {not_served}) continue ;;
    *.gz) if [ -f "$folder/${{path%.gz}}" ]; then continue; fi ;;
  esac
  case "$path" in
    {hashed}) when=hashed ;;
    index.html|*/index.html|*/manifest.json|*/{WORKER}) when=last ;;
    *) when=other ;;
  esac
  from=$path packed=plain
  if [ -f "$folder/$path.gz" ]; then from=$path.gz packed=gzip; fi
  mkdir -p "$stage/$when-$packed/$(dirname "$path")"
  cp -p "$folder/$from" "$stage/$when-$packed/$path"
done < "$stage/files"

# send FOLDER CACHE-CONTROL COMMAND...: S3 does not know all types, and a command of aws sends files of one type.
send() {{
  from=$stage/$1 cache=$2
  shift 2
  [ -d "$from" ] || return 0
  case "$from" in *-gzip) set -- "$@" --content-encoding gzip ;; esac
  set -- "$@" "$from" "$to" --cache-control "$cache" --no-progress
  while read -r ending type; do
    if [ -n "$(find "$from" -type f -name "*.$ending")" ]; then
      aws s3 "$@" --exclude '*' --include "*.$ending" --content-type "$type" < /dev/null
    fi
  done <<'TYPES'
{types}
TYPES
  if [ -n "$(find "$from" -type f {others})" ]; then
    aws s3 "$@" {without} < /dev/null
  fi
}}

for packed in plain gzip; do send "hashed-$packed" '{IMMUTABLE}' sync --size-only "$@"; done
for when in other last; do
  for packed in plain gzip; do send "$when-$packed" {FRESH} cp --recursive "$@"; done
done
"""
    return {site.base / _NAME: text}


def _steps(site: Deployment) -> tuple[str, ...]:
    return (
        f"sh {_NAME} s3://BUCKET",
        "let every origin read (Access-Control-Allow-Origin: *), by a CORS rule of the bucket",
        f"the address is then https://BUCKET.s3.amazonaws.com/{site.start}: S3 itself needs the file's name",
    )


def _remarks(_: Deployment) -> tuple[str, ...]:
    return (
        f"{FRAMED_BY_ANY}; CloudFront has policies of response headers",
        "files are stored as gzip: a client that does not accept it gets it all the same",
    )


S3 = PublishTarget("s3", OBJECT_STORE, _steps, _files, _remarks)
