import Market
import Measurements
import NIOCore
import Platform
import Wire

/// The bodies of `/readyz`, `/v1/status`, `/v1/audit` and `/v1/trades`, encoded from copies of the relay's state.
enum StatusAnswers {
    /// Returns whether the data is fresh, and the body with the facts behind that.
    ///
    /// - Parameter cluster: this program's part in a cluster; `nil` without one.
    static func readiness(_ reading: RelayReading, cluster: ClusterReport?) -> (isReady: Bool, body: ByteBuffer) {
        let readiness = Readiness(reading.status, newestAge: reading.newestAge)
        let body = JSONWriter.line { out in
            out.field("ready", readiness.isReady)
            out.field("state", reading.status.word)
            out.field("since", reading.status.since / 1_000_000)
            out.field("reason", readiness.reason)
            out.field("cause", reading.status.cause?.word)
            out.field("source", reading.status.source.word)
            if reading.status.source != .live {
                out.field("paused", reading.status.isPaused)
            }
            out.field("via", reading.status.via)
            if let cluster { out.object("cluster") { cluster.writePlace(to: &$0) } }
            if let replay = reading.replay {
                out.field("replay", json: StreamEncoder.replayObject(replay))
            }
            out.field("newestTradeAge", seconds: reading.newestAge)
            out.array("symbols") { out in
                for symbol in reading.symbols where symbol.status.map({ $0.state != .live }) ?? (symbol.age == nil) {
                    Self.symbol(symbol, to: &out)
                }
            }
        }
        return (readiness.isReady, body)
    }

    /// Returns the body of `/v1/status`.
    static func status(_ reading: RelayReading, instruments: Instruments, version: String) -> ByteBuffer {
        let history = instruments.history
        let latency = instruments.latency.report
        return JSONWriter.line { out in
            out.field("version", version)
            out.field("uptime", seconds: SystemClock.monotonic() - instruments.started)
            out.field("epoch", reading.epoch)
            out.field("nextSeq", reading.epoch.map { _ in reading.sequences.upperBound })
            out.field("ready", Readiness(reading.status, newestAge: reading.newestAge).isReady)
            out.field("status", json: StreamEncoder.status(reading.status))
            if let cluster = instruments.cluster.report(version: version, now: SystemClock.monotonic()) {
                out.object("cluster") { cluster.write(to: &$0) }
            }
            if let replay = reading.replay {
                out.field("replay", json: StreamEncoder.replayObject(replay))
            }
            out.field("newestTradeAge", seconds: reading.newestAge)
            out.array("symbols") { out in for symbol in reading.symbols { Self.symbol(symbol, to: &out) } }
            out.object("clients") { out in
                for (name, count) in reading.clients { out.field(named: name, count) }
            }
            out.field("waitingBytes", reading.waitingBytes)
            out.object("refusals") { out in
                for (type, number) in instruments.refusals.all {
                    out.field(named: type, number)
                }
            }
            Self.history(history, to: &out)
            Self.latency(latency, to: &out)
        }
    }

    private static func history(_ history: FeedHistory, to out: inout JSONWriter) {
        out.object("reconnects") { out in
            for (cause, count) in history.reconnects.sorted(by: { $0.key.word < $1.key.word }) {
                out.field(named: cause.word, count)
            }
        }
        out.object("gaps") { out in
            out.field("count", history.gapCount)
            out.field("seconds", seconds: history.gapNanoseconds)
            out.array("newest") { out in
                for known in history.gaps.reversed() {
                    out.element { out in
                        out.field("type", "gap")
                        StreamEncoder.write(known.gap, into: &out)
                        guard !known.outcomes.isEmpty else { return }
                        out.array("settled") { out in
                            for outcome in known.outcomes { out.element { StreamEncoder.write(outcome, into: &$0) } }
                        }
                    }
                }
            }
        }
        out.object("repeats") { out in
            out.field("frames", history.repeats.repeatedFrames)
            out.field("possible", history.repeats.possibleRepeats)
            out.field("leftOut", history.repeats.repeatedTrades)
        }
    }

    /// Writes the latencies, in milliseconds.
    static func latency(_ report: LatencyReport, to out: inout JSONWriter) {
        out.object("latency") { out in
            for row in report.rows {
                out.object(named: row.path.name) { out in
                    out.field("count", row.summary.count)
                    out.field("p50", milliseconds: row.summary.median)
                    out.field("p99", milliseconds: row.summary.percentile99)
                    out.field("max", milliseconds: row.summary.maximum)
                }
            }
            out.field("clockBehind", milliseconds: report.clocks == .compared ? report.clockOffset : nil)
        }
    }

    /// Returns the body of `/v1/audit`.
    ///
    /// - Parameter report: `nil` while nothing is compared.
    static func audit(_ report: AuditReport?) -> ByteBuffer {
        JSONWriter.line { out in
            out.field("enabled", report != nil)
            (report ?? AuditReport()).write(to: &out)
        }
    }

    /// Returns the body of `/v1/trades`; times as in `/v1/stream`.
    static func trades(_ excerpt: TradeExcerpt) -> ByteBuffer {
        JSONWriter.line { out in
            out.field("symbol", excerpt.symbol)
            out.field("epoch", excerpt.epoch)
            out.field("oldestSeq", excerpt.sequences.lowerBound)
            out.field("nextSeq", excerpt.sequences.upperBound)
            out.array("trades") { out in
                for item in excerpt.items {
                    out.trade(item.trade, epoch: item.epoch, sequence: item.sequence, received: item.received)
                }
            }
        }
    }

    private static func symbol(_ symbol: RelayReading.Symbol, to out: inout JSONWriter) {
        out.element { out in
            out.field("symbol", symbol.name)
            out.field("state", symbol.word)
            out.field("since", (symbol.status?.since).map { $0 / 1_000_000 })
            out.field("reason", symbol.status?.reason)
            if let meant = symbol.status?.meant { out.field("meant", meant) }
            out.field("age", seconds: symbol.age)
            out.field("trades", symbol.trades)
            if let day = symbol.day { out.object("venueDay") { StreamEncoder.write(day, into: &$0) } }
        }
    }
}

extension RelayReading.Symbol {
    /// The state as one word: the feed's, or else the one that follows from the symbol's trades.
    var word: String { self.status?.word ?? (self.age == nil ? "asked" : "live") }
}
