import Market
import Measurements
import NIOCore
import Platform
import Wire

/// The bodies of `/readyz`, `/v1/status` and `/v1/trades`, made of what was copied from the relay's loop.
enum StatusAnswers {
    /// Whether the data is fresh, and all that speaks for it or against it.
    static func readiness(_ reading: RelayReading) -> (isReady: Bool, body: ByteBuffer) {
        let readiness = Readiness(reading.status, newestAge: reading.newestAge)
        let body = JSONWriter.line { out in
            out.key("ready")
            out.flag(readiness.isReady)
            out.key("state")
            out.text(reading.status.word)
            out.key("since")
            out.number(reading.status.since / 1_000_000)
            out.key("reason")
            out.text(readiness.reason)
            out.key("cause")
            out.text(reading.status.cause?.word)
            out.key("source")
            out.text(reading.status.source.word)
            if reading.status.source != .live {
                out.key("paused")
                out.flag(reading.status.isPaused)
            }
            out.key("via")
            out.text(reading.status.via)
            if let replay = reading.replay {
                out.key("replay")
                out.raw(StreamEncoder.replayObject(replay))
            }
            out.key("newestTradeAge")
            Self.age(reading.newestAge, to: &out)
            out.key("symbols")
            out.array { out in
                for symbol in reading.symbols where symbol.status.map({ $0.state != .live }) ?? (symbol.age == nil) {
                    Self.symbol(symbol, to: &out)
                }
            }
        }
        return (readiness.isReady, body)
    }

    /// Everything.
    static func status(_ reading: RelayReading, instruments: Instruments, version: String) -> ByteBuffer {
        let history = instruments.history
        let latency = instruments.latency.report
        return JSONWriter.line { out in
            out.key("version")
            out.text(version)
            out.key("uptime")
            out.seconds(DisplayClock.monotonic() - instruments.started)
            out.key("epoch")
            out.number(reading.epoch)
            out.key("nextSeq")
            out.number(reading.epoch.map { _ in reading.sequences.upperBound })
            out.key("ready")
            out.flag(Readiness(reading.status, newestAge: reading.newestAge).isReady)
            out.key("status")
            out.raw(StreamEncoder.status(reading.status))
            if let replay = reading.replay {
                out.key("replay")
                out.raw(StreamEncoder.replayObject(replay))
            }
            out.key("newestTradeAge")
            Self.age(reading.newestAge, to: &out)
            out.key("symbols")
            out.array { out in for symbol in reading.symbols { Self.symbol(symbol, to: &out) } }
            out.key("clients")
            out.object { out in
                for (name, count) in reading.clients {
                    out.key(name)
                    out.number(count)
                }
            }
            out.key("waitingBytes")
            out.number(reading.waitingBytes)
            out.key("refusals")
            out.object { out in
                for (type, number) in instruments.refusals.all {
                    out.key(type)
                    out.number(number)
                }
            }
            Self.history(history, to: &out)
            Self.latency(latency, to: &out)
        }
    }

    private static func history(_ history: FeedHistory, to out: inout JSONWriter) {
        out.key("reconnects")
        out.object { out in
            for (cause, count) in history.reconnects.sorted(by: { $0.key.word < $1.key.word }) {
                out.key(cause.word)
                out.number(count)
            }
        }
        out.key("gaps")
        out.object { out in
            out.key("count")
            out.number(history.gapCount)
            out.key("seconds")
            out.seconds(history.gapNanoseconds)
            out.key("newest")
            out.array { out in for gap in history.gaps.reversed() { out.raw(StreamEncoder.gap(gap)) } }
        }
        out.key("repeats")
        out.object { out in
            out.key("frames")
            out.number(history.repeats.repeatedFrames)
            out.key("possible")
            out.number(history.repeats.possibleRepeats)
            out.key("leftOut")
            out.number(history.repeats.repeatedTrades)
        }
    }

    /// Milliseconds.
    static func latency(_ report: LatencyReport, to out: inout JSONWriter) {
        out.key("latency")
        out.object { out in
            for row in report.rows {
                out.key(row.path.name)
                out.object { out in
                    out.key("count")
                    out.number(row.summary.count)
                    out.key("p50")
                    out.milliseconds(row.summary.median)
                    out.key("p99")
                    out.milliseconds(row.summary.percentile99)
                    out.key("max")
                    out.milliseconds(row.summary.maximum)
                }
            }
            out.key("clockBehind")
            if report.clocks == .compared { out.milliseconds(report.clockOffset) } else { out.text(nil) }
        }
    }

    /// Trades with their numbers; times as in `/v1/stream`.
    static func trades(_ excerpt: TradeExcerpt) -> ByteBuffer {
        JSONWriter.line { out in
            out.key("symbol")
            out.text(excerpt.symbol)
            out.key("epoch")
            out.number(excerpt.epoch)
            out.key("oldestSeq")
            out.number(excerpt.sequences.lowerBound)
            out.key("nextSeq")
            out.number(excerpt.sequences.upperBound)
            out.key("trades")
            out.array { out in
                for item in excerpt.items {
                    out.trade(item.trade, epoch: item.epoch, sequence: item.sequence, received: item.received)
                }
            }
        }
    }

    private static func symbol(_ symbol: RelayReading.Symbol, to out: inout JSONWriter) {
        out.object { out in
            out.key("symbol")
            out.text(symbol.name)
            out.key("state")
            out.text(symbol.word)
            out.key("since")
            out.number((symbol.status?.since).map { $0 / 1_000_000 })
            out.key("reason")
            out.text(symbol.status?.reason)
            out.key("age")
            Self.age(symbol.age, to: &out)
            out.key("trades")
            out.number(symbol.trades)
        }
    }

    private static func age(_ age: Int64?, to out: inout JSONWriter) {
        if let age { out.seconds(age) } else { out.text(nil) }
    }
}

extension RelayReading.Symbol {
    /// The state as one word: the feed's, or what its trades say.
    var word: String { self.status?.word ?? (self.age == nil ? "asked" : "live") }
}
