# A small image of the program, built with Swift linked in, on Debian's libssl, libzstd, zlib and SQLite.
#
#   docker build -t tickertape .
#   docker run --rm -it --network host --read-only -e FINNHUB_TOKEN tickertape
#
# The relay binds to loopback only, because Finnhub's terms forbid redistributing its data. So it is reachable from this
# machine only with `--network host`; published ports (-p) do not reach it. Set another port with
# `-e TICKERTAPE_RELAY_LISTEN=127.0.0.1:9000`, which the health check reads too, unlike a flag.

FROM swift:6.3-bookworm AS build
# Security updates matter more than a reproducible image, so the versions are the distribution's.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libsqlite3-dev libssl-dev libzstd-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN scripts/build \
    && mkdir -p /out/bin /out/share/tickertape \
    && cp .build/release/tickertape /out/bin/ \
    && strip /out/bin/tickertape \
    && cp Sources/Tickertape/Resources/demo.jsonl /out/share/tickertape/

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libgcc-s1 libsqlite3-0 libssl3 libstdc++6 libzstd1 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin tickertape \
    && install --directory --owner=tickertape --group=tickertape /data
COPY --from=build /out/ /usr/local/
COPY config/tickertape.yaml /usr/share/doc/tickertape/
# Without a UTF-8 locale the screen would use ASCII only.
ENV LANG=C.UTF-8
USER 10001
# For --record and `record`: a volume that is mounted here belongs to user 10001; a folder of the host must belong to
# it.
WORKDIR /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["tickertape", "health"]
ENTRYPOINT ["tickertape"]
