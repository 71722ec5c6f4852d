#!/bin/sh
# aws-kms.sh <key id or alias> <digest>: signs a digest of 64 hex digits with a key of type
# ECC_SECG_P256K1, and prints the signature as base64 of DER. Needs AWS CLI version 2 and
# xxd.
set -eu
message=$(mktemp)
trap 'rm -f "$message"' EXIT
printf '%s' "$2" | xxd -r -p > "$message"
aws kms sign --key-id "$1" --message "fileb://$message" --message-type DIGEST \
  --signing-algorithm ECDSA_SHA_256 --query Signature --output text
