import CoreMetrics
package import Market
import NIOConcurrencyHelpers
import Platform
package import Wire

/// The measurements of one program, shared by all that show them: `/metrics`, `/v1/status`, the display, the exit
/// report.
package final class Instruments: Sendable {
    package let registry = MetricRegistry()
    package let latency: LatencyBook
    /// The measurements of the TLS handshakes with the upstream.
    package let handshakes: HandshakeMeter
    /// The requests, connections and clients that the relay has refused.
    package let refusals: RefusalCounts
    /// The completeness of each symbol and hour of the tape.
    package let completeness = CompletenessMeter()
    /// This program's part in a cluster.
    package let cluster = ClusterStateBox()
    /// The start of the program, monotonic ns.
    package let started = SystemClock.monotonic()
    private let past = NIOLockedValueBox(FeedHistory())
    private let time: NIOLockedValueBox<FeedTime>
    /// Returns the number of frames missing in the recording; `nil` without a recording.
    private let dropped = NIOLockedValueBox<(@Sendable () -> UInt64)?>(nil)

    /// - Parameter source: the origin of the trades; in a replay the exchange's times are not compared with our clock.
    package init(source: FeedStatus.Source = .live) {
        self.time = NIOLockedValueBox(FeedTime(now: self.started))
        self.refusals = RefusalCounts(self.registry)
        self.handshakes = HandshakeMeter(self.registry)
        self.latency = LatencyBook(clocks: source == .live ? .compared : .recorded)
        MetricName.describeAll(in: self.registry)
        for path in LatencyPath.allCases where path != .exchangeToArrival || self.latency.clocks == .compared {
            self.registry.add(
                self.latency[path],
                label: MetricName.latency,
                dimensions: [("path", path.name)]
            )
        }
    }

    package var history: FeedHistory { self.past.withLockedValue { $0 } }

    func changeHistory<Result>(_ change: (inout FeedHistory) -> Result) -> Result {
        self.past.withLockedValue { change(&$0) }
    }

    func changeTime(_ change: (inout FeedTime) -> Void) { self.time.withLockedValue { change(&$0) } }

    /// Returns the time that the feed was live, and that it was not, up to now.
    ///
    /// - Parameters:
    ///   - effective: the status that takes the age of the data into account.
    ///   - now: the moment of that status.
    package func feedTime(effective: FeedStatus, now: Moment) -> FeedTime {
        self.time.withLockedValue { time in
            time.timePassed(now: now.monotonic, effective: effective, length: now.wall - effective.since)
            return time
        }
    }

    /// Sets the function that returns how many frames a recording lacks.
    package func recorderDropped(_ count: @escaping @Sendable () -> UInt64) {
        self.dropped.withLockedValue { $0 = count }
    }

    /// Returns the number of recorded frames that a disk failed to sync; `nil` without a recording.
    private let doubted = NIOLockedValueBox<(@Sendable () -> UInt64)?>(nil)

    /// Sets the function that returns how many recorded frames a power cut may cost, because the disk failed to sync
    /// them.
    package func recorderDoubted(_ count: @escaping @Sendable () -> UInt64) {
        self.doubted.withLockedValue { $0 = count }
    }

    /// Returns whether the disk does not take the recording; `nil` without a recording.
    private let failing = NIOLockedValueBox<(@Sendable () -> Bool)?>(nil)

    /// Sets the function that returns whether the disk does not take what is recorded now.
    package func recorderFails(_ isFailing: @escaping @Sendable () -> Bool) {
        self.failing.withLockedValue { $0 = isFailing }
    }

    package var recorderIsFailing: Bool? { self.failing.withLockedValue { $0 }?() }

    package var doubtedFrames: UInt64? { self.doubted.withLockedValue { $0 }?() }

    /// Returns the number of trades missing in the history; `nil` without a history.
    private let historyLost = NIOLockedValueBox<(@Sendable () -> UInt64)?>(nil)

    /// Sets the function that returns how many trades a history lacks.
    package func historyLost(_ count: @escaping @Sendable () -> UInt64) {
        self.historyLost.withLockedValue { $0 = count }
    }

    package var lostInHistory: UInt64? { self.historyLost.withLockedValue { $0 }?() }

    package var droppedFrames: UInt64? { self.dropped.withLockedValue { $0 }?() }
}

/// The names and descriptions of the metrics.
package enum MetricName {
    static let trades = "tickertape_trades_total"
    static let frames = "tickertape_frames_total"
    static let bytes = "tickertape_frame_bytes_total"
    static let malformed = "tickertape_malformed_frames_total"
    static let malformedElements = "tickertape_malformed_trades_total"
    static let unnumbered = "tickertape_trades_of_too_many_symbols_total"
    static let repeatedFrames = "tickertape_repeated_frames_total"
    static let repeats = "tickertape_repeated_trades_total"
    static let possibleRepeats = "tickertape_possible_repeats_total"
    static let reconnects = "tickertape_reconnects_total"
    static let gaps = "tickertape_gaps_total"
    static let gapSeconds = "tickertape_gap_seconds_total"
    static let lostTrades = "tickertape_lost_trades_total"
    static let liveSeconds = "tickertape_live_seconds_total"
    static let notLiveSeconds = "tickertape_not_live_seconds_total"
    static let latency = "tickertape_latency_seconds"
    package static let skipped = "tickertape_skipped_trades_total"
    package static let slowClients = "tickertape_slow_clients_closed_total"
    package static let closedClients = "tickertape_relay_clients_closed_total"
    package static let tlsHandshakes = "tickertape_relay_tls_handshakes_total"
    package static let tlsFailures = "tickertape_relay_tls_failures_total"
    package static let tlsExpiry = "tickertape_relay_certificate_expires_timestamp_seconds"
    static let handshakes = "tickertape_tls_handshakes_total"
    static let handshakeSeconds = "tickertape_tls_handshake_seconds"
    static let refusals = "tickertape_relay_refusals_total"

    static func describeAll(in registry: MetricRegistry) {
        let texts = [
            (self.trades, "Trades and price updates on the tape."),
            (self.frames, "Text frames from the upstream."),
            (self.bytes, "Payload bytes of these frames."),
            (self.malformed, "Frames with a part that could not be read."),
            (self.malformedElements, "Trades that could not be read."),
            (self.unnumbered, "Trades left out because the symbol table was full."),
            (self.repeatedFrames, "Frames that came again byte for byte, within 2 s on one connection."),
            (self.repeats, "Trades that were left out as repeats, by upstream.drop-repeats or by their ids."),
            (self.possibleRepeats, "Trades on the tape that may have come before, in such a frame or before a gap."),
            (self.reconnects, "Interruptions after which another attempt was announced, by cause."),
            (self.gaps, "Gaps on the tape, by cause."),
            (self.gapSeconds, "Length of all gaps of the whole feed together, by cause."),
            (self.lostTrades, "Trades with ids that are missing for good, because they could not be had later."),
            (self.latency, "Latency by path; docs/http.md says what each measures."),
            (self.skipped, "Trades that a reader was not shown: the debounce of stream, a slow_client, a late relay."),
            (self.slowClients, "Clients closed because they did not keep up."),
            (self.closedClients, "Clients whose session has ended, by reason; docs/http.md says what each means."),
            (self.handshakes, "TLS handshakes with the upstream, by result: full, resumed, failed."),
            (self.handshakeSeconds, "Time of the TLS handshakes with the upstream that were completed."),
            (self.refusals, "Requests, connections and clients that the relay has refused, by type."),
        ]
        for (name, text) in texts { registry.describe(name, text) }
    }
}

extension FeedStatus.Phase {
    /// The words of all phases, for one gauge each.
    package static let words = [
        "connecting", "waiting", "live", "late", "stale", "reconnecting", "rate-limited", "key-rejected", "key-in-use",
        "no-such-symbol", "not-permitted", "ended", "stopped",
    ]
}
