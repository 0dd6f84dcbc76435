import Market
import Measurements
import NIOCore
import Platform
import TLS
import Wire

/// The body of `/metrics`: the counters, and the gauges of this moment.
enum MetricsAnswer {
    /// Reads `/proc`, so it must not be called on an event loop.
    static func text(_ reading: RelayReading, instruments: Instruments, version: String) -> ByteBuffer {
        var out = PrometheusText()
        out.family("tickertape_build_info", .gauge, "1, with the versions of the program and of its OpenSSL.")
        out.sample("tickertape_build_info", [("version", version), ("openssl", OpenSSLVersion.number)], 1)
        let isReady = Readiness(reading.status, newestAge: reading.newestAge).isReady
        out.single("tickertape_ready", .gauge, "1 while the data is fresh, as /readyz says.", isReady ? 1 : 0)
        self.state(reading.status, to: &out)
        instruments.feedTime(effective: reading.status, now: SystemClock.now()).write(to: &out)
        instruments.registry.write(to: &out)
        self.latencyMaxima(instruments.latency, to: &out)
        instruments.latency.auditReport?.write(to: &out)
        instruments.handshakes.write(to: &out)
        self.symbols(reading, to: &out)
        self.completeness(instruments.completeness, to: &out)
        instruments.cluster.value?.write(to: &out, now: SystemClock.monotonic())
        out.family("tickertape_relay_clients", .gauge, "WebSocket clients of the relay.")
        for (name, count) in reading.clients {
            out.sample("tickertape_relay_clients", [("endpoint", name)], Double(count))
        }
        out.family(
            "tickertape_relay_queue_bytes",
            .gauge,
            "Bytes that wait for clients, or from the feed to the relay."
        )
        out.sample("tickertape_relay_queue_bytes", [("queue", "clients")], Double(reading.waitingBytes))
        out.sample("tickertape_relay_queue_bytes", [("queue", "feed")], Double(reading.outboxBytes))
        if let isFailing = instruments.recorderIsFailing {
            let help = "1 while the disk does not take the recording."
            out.single("tickertape_recorder_failing", .gauge, help, isFailing ? 1 : 0)
        }
        if let dropped = instruments.droppedFrames {
            out.single(
                "tickertape_recorder_dropped_frames_total",
                .counter,
                "Frames that are missing in the recording.",
                Double(dropped)
            )
        }
        if let doubted = instruments.doubtedFrames {
            out.single(
                "tickertape_recorder_unsynced_frames_total",
                .counter,
                "Frames that are in the recording and that the disk failed to keep over a power cut.",
                Double(doubted)
            )
        }
        if let lost = instruments.lostInHistory {
            out.single(
                "tickertape_history_lost_trades_total",
                .counter,
                "Trades that are in no bar of the history.",
                Double(lost)
            )
        }
        ProcessFigures.read().write(to: &out)
        return out.buffer
    }

    private static func state(_ status: FeedStatus, to out: inout PrometheusText) {
        let name = "tickertape_feed_state"
        out.family(name, .gauge, "1 for the state that the feed is in, 0 for the others.")
        for word in FeedStatus.Phase.words { out.sample(name, [("state", word)], word == status.word ? 1 : 0) }
        out.single(
            "tickertape_feed_state_since_timestamp_seconds",
            .gauge,
            "When that state began, seconds since 1970.",
            // In whole milliseconds, so that the double prints without a rounding error.
            Double(status.since / 1_000_000) / 1e3
        )
    }

    private static func latencyMaxima(_ latency: LatencyBook, to out: inout PrometheusText) {
        let name = "tickertape_latency_max_seconds"
        let report = latency.report
        out.family(name, .gauge, "The longest since the start, by path.")
        for row in report.rows {
            out.sample(name, [("path", row.path.name)], Double(row.summary.maximum) / 1e9)
        }
        if report.clocks == .compared {
            out.single(
                "tickertape_clock_behind_seconds",
                .gauge,
                "How far this machine's clock is behind the exchange's at least.",
                Double(report.clockOffset) / 1e9
            )
        }
    }

    private static func symbols(_ reading: RelayReading, to out: inout PrometheusText) {
        if let age = reading.newestAge {
            let help = "Time since the newest trade of any symbol arrived."
            out.single("tickertape_newest_trade_age_seconds", .gauge, help, Double(age) / 1e9)
        }
        let traded = reading.symbols.filter { $0.age != nil }
        if !traded.isEmpty {
            out.family("tickertape_symbol_age_seconds", .gauge, "Time since the symbol's newest trade arrived.")
            for symbol in traded {
                out.sample("tickertape_symbol_age_seconds", [("symbol", symbol.name)], Double(symbol.age ?? 0) / 1e9)
            }
        }
        guard !reading.symbols.isEmpty else { return }
        out.family("tickertape_symbol_state", .gauge, "1 for the state that the symbol is in.")
        for symbol in reading.symbols {
            out.sample("tickertape_symbol_state", [("symbol", symbol.name), ("state", symbol.word)], 1)
        }
    }

    /// Writes the counts of trades with ids, of as many symbols as a family may have.
    private static func completeness(_ meter: CompletenessMeter, to out: inout PrometheusText) {
        let totals = meter.totals.prefix(MetricRegistry.maximumSeries)
        guard !totals.isEmpty else { return }
        let families: [(String, PrometheusText.Kind, String, KeyPath<CompletenessTotals, UInt64>)] = [
            ("tickertape_symbol_trades_total", .counter, "The symbol's trades with an id on the tape.", \.trades),
            ("tickertape_symbol_missing_trades", .gauge, "The symbol's ids that are not on the tape now.", \.missing),
            (
                "tickertape_symbol_repeated_trades_total", .counter,
                "The symbol's trades that came again and were left out.", \.repeated
            ),
            (
                "tickertape_symbol_filled_trades_total", .counter,
                "The symbol's trades that had been missing and came later.", \.filled
            ),
        ]
        for (name, kind, help, count) in families {
            out.family(name, kind, help)
            for (symbol, counts) in totals { out.sample(name, [("symbol", symbol)], Double(counts[keyPath: count])) }
        }
    }
}
