#!/bin/sh
# deb says "remove", rpm 0, where the package goes; an upgrade is the new version's matter.
set -e
[ -d /run/systemd/system ] || exit 0
case "$1" in
remove | 0) systemctl --no-reload disable --now a2a-gateway.service a2a-gateway.socket || true ;;
esac
