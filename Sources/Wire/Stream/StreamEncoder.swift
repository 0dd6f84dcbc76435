package import Market
package import NIOCore

/// The writer of the `/v1/stream` messages, one JSON object each.
///
/// Decimals are strings and exact. `time` is the exchange's clock in ms, `received` our wall clock in µs.
package enum StreamEncoder {
    /// `{"type":"price",…}`: a debounced price.
    package static func price(_ update: PriceUpdate) -> ByteBuffer { Self.update(update, type: "price") }

    /// `{"type":"snapshot",…}`: the newest price, for a reader that has just come.
    package static func snapshot(_ summary: SymbolSummary, skipped: UInt64 = 0) -> ByteBuffer {
        Self.update(PriceUpdate(summary: summary, skipped: skipped), type: "snapshot")
    }

    /// `{"type":"trades",…}`: trades came in that showed no new price; `skipped` is 0, the price may be one not yet shown.
    package static func trades(_ summary: SymbolSummary) -> ByteBuffer {
        Self.update(PriceUpdate(summary: summary, skipped: 0), type: "trades")
    }

    private static func update(_ update: PriceUpdate, type: StaticString) -> ByteBuffer {
        let summary = update.summary
        var out = JSONLine(type: type)
        out.field("symbol", summary.symbol)
        out.field("price", summary.price)
        out.field("size", summary.size)
        out.field("time", summary.exchangeTime / 1_000_000)
        out.field("received", summary.received / 1_000)
        out.field("seq", summary.sequence)
        out.field("skipped", update.skipped)
        out.field("open", summary.open)
        out.field("high", summary.high)
        out.field("low", summary.low)
        out.field("volume", summary.volume)
        out.field("trades", summary.trades)
        return out.finish()
    }

    /// `{"type":"status",…}`: what is true of the feed.
    ///
    /// `state` is ``FeedStatus/word``; `file` and `speed` are null but for a replay, and `speed` is null as well when it
    /// goes as fast as it can. `cause` is ``FeedStatus/Cause/word``, null while connected. Behind the fixed keys, `via` names the relay of another program that the trades come
    /// through, and `attempt` and `retryAt` (ms) say when the next attempt is due.
    package static func status(_ status: FeedStatus) -> ByteBuffer {
        var out = JSONLine(type: "status")
        out.field("state", status.word)
        out.field("since", status.since / 1_000_000)
        out.field("reason", status.reason)
        switch status.source {
        case .live:
            out.source("live", file: nil, speed: nil)
        case .replay(let file, let speed):
            out.source("replay", file: file, speed: speed)
        case .demo:
            out.source("demo", file: nil, speed: nil)
        }
        out.field("certificateChecked", status.certificateChecked)
        out.field("cause", status.cause?.word)
        if let via = status.via { out.field("via", via) }
        if case .reconnecting(let attempt, _) = status.phase { out.field("attempt", attempt) }
        if let retryAt = status.phase.retryAt { out.field("retryAt", retryAt / 1_000_000) }
        return out.finish()
    }

    /// `{"type":"symbol",…}`: what is true of one symbol; `state` is ``SymbolStatus/word``, and a refused symbol is asked
    /// for again at `retryAt` (ms).
    package static func symbol(_ status: SymbolStatus) -> ByteBuffer {
        var out = JSONLine(type: "symbol")
        out.field("symbol", status.symbol)
        out.field("state", status.word)
        out.field("since", status.since / 1_000_000)
        out.field("reason", status.reason)
        if case .refused(_, let retryAt) = status.state { out.field("retryAt", retryAt / 1_000_000) }
        return out.finish()
    }

    /// `{"type":"gap",…}`: trades may be missing. `overlap` is null where nothing could be compared;
    /// `symbol` names the only one concerned and is not there for all.
    package static func gap(_ gap: Gap) -> ByteBuffer {
        var out = JSONLine(type: "gap")
        out.field("from", gap.from / 1_000_000)
        out.field("to", gap.to / 1_000_000)
        out.field("reason", gap.reason)
        out.field("nextSeq", gap.nextSequence)
        out.field("epoch", gap.epoch)
        out.field("overlap", gap.overlap)
        out.field("cause", gap.cause?.word)
        if let symbol = gap.symbol { out.field("symbol", symbol) }
        return out.finish()
    }

    /// `{"type":"error","msg":"…"}`.
    package static func error(_ text: String) -> ByteBuffer {
        var out = JSONLine(type: "error")
        out.field("msg", text)
        return out.finish()
    }
}

/// One JSON object being written, key by key.
private struct JSONLine {
    private var buffer = ByteBuffer()

    init(type: StaticString) {
        self.buffer.reserveCapacity(384)
        self.buffer.writeStaticString("{\"type\":\"")
        self.buffer.writeStaticString(type)
        self.buffer.writeStaticString("\"")
    }

    private mutating func key(_ key: StaticString) {
        self.buffer.writeStaticString(",\"")
        self.buffer.writeStaticString(key)
        self.buffer.writeStaticString("\":")
    }

    mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value {
            JSONText.escape(value, into: &self.buffer)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    mutating func field(_ key: StaticString, _ value: ExactDecimal) {
        self.key(key)
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    mutating func field(_ key: StaticString, _ value: ExactSum) {
        self.key(key)
        self.buffer.writeStaticString("\"")
        JSONText.write(value, into: &self.buffer)
        self.buffer.writeStaticString("\"")
    }

    mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
        self.key(key)
        JSONText.write(value, into: &self.buffer)
    }

    mutating func field(_ key: StaticString, _ value: Int?) {
        self.key(key)
        if let value {
            JSONText.write(value, into: &self.buffer)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        self.buffer.writeStaticString(value ? "true" : "false")
    }

    mutating func source(_ word: String, file: String?, speed: Double?) {
        self.field("source", word)
        self.field("file", file)
        self.key("speed")
        if let speed, speed.isFinite {
            // Swift writes every finite double as a JSON number.
            self.buffer.writeString(speed.description)
        } else {
            self.buffer.writeStaticString("null")
        }
    }

    consuming func finish() -> ByteBuffer {
        self.buffer.writeStaticString("}")
        return self.buffer
    }
}
