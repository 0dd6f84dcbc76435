package import Market
package import NIOCore

/// The encoder of the `/v1/stream` messages, one JSON object each.
///
/// Every message of the relay has a number, `n`. The same objects as lines of a file or of an output have none.
///
/// Decimals are exact, and written as strings. `time` is the exchange's clock in ms, `received` our wall clock in µs.
/// `ahead` is present only if true.
package enum StreamEncoder {
    /// Writes `{"type":"price",…}`: the newest price, with the number of trades left out since the previous one.
    package static func price(_ update: PriceUpdate, number: UInt64? = nil) -> ByteBuffer {
        Self.update(update, type: "price", age: nil, number: number)
    }

    /// Writes `{"type":"snapshot",…}`: the newest price, for a client that has just connected or subscribed.
    ///
    /// - Parameter age: the time since the trade arrived, ns.
    package static func snapshot(
        _ summary: SymbolSummary,
        skipped: UInt64 = 0,
        age: Int64? = nil,
        number: UInt64? = nil
    ) -> ByteBuffer {
        Self.update(PriceUpdate(summary: summary, skipped: skipped), type: "snapshot", age: age, number: number)
    }

    /// Writes `{"type":"trades",…}`: trades without a new price to show. `skipped` is 0; the price may be one not yet
    /// shown.
    package static func trades(_ summary: SymbolSummary, number: UInt64? = nil) -> ByteBuffer {
        Self.update(PriceUpdate(summary: summary, skipped: 0), type: "trades", age: nil, number: number)
    }

    private static func update(
        _ update: PriceUpdate,
        type: StaticString,
        age: Int64?,
        number: UInt64?
    ) -> ByteBuffer {
        var out = JSONWriter(type: type, number: number)
        out.field("symbol", update.summary.symbol)
        out.summary(update.summary, skipped: update.skipped)
        if update.summary.isAhead { out.field("ahead", true) }
        if let age { out.field("age", age / 1_000_000) }
        return out.finish()
    }

    /// Writes `{"type":"status",…}`: the feed's status.
    ///
    /// `state` is ``FeedStatus/word``. `file` is null except in a replay; `speed` is null except in a replay or a
    /// simulated market, and null there if it goes as fast as possible. `cause` is ``FeedStatus/Cause/word``, and null
    /// while connected. Further keys follow where they apply: `paused` unless the source is the live market, `seed` for
    /// a simulated market, `via` for the relay or the ingest that supplies the trades, `attempt` and `retryAt`
    /// (ms) for the next attempt.
    package static func status(_ status: FeedStatus, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "status", number: number)
        Self.write(status, into: &out)
        return out.finish()
    }

    /// Writes the keys of a status, for a separate message or as part of another one.
    static func write(_ status: FeedStatus, into out: inout JSONWriter) {
        out.field("state", status.word)
        out.field("since", status.since / 1_000_000)
        out.field("reason", status.reason)
        switch status.source {
        case .live, .demo:
            out.source(status.source.word, file: nil, speed: nil)
        case .replay(let file, let speed):
            out.source(status.source.word, file: file, speed: speed)
        case .simulated(_, let speed):
            out.source(status.source.word, file: nil, speed: speed)
        }
        out.field("certificateChecked", status.certificateChecked)
        out.field("cause", status.cause?.word)
        if status.source != .live { out.field("paused", status.isPaused) }
        // As text, because the seed may exceed the numbers that a reader holds exactly.
        if case .simulated(let seed, _) = status.source { out.field("seed", "\(seed)") }
        if let via = status.via { out.field("via", via) }
        if case .reconnecting(let attempt, _) = status.phase { out.field("attempt", attempt) }
        if let retryAt = status.phase.retryAt { out.field("retryAt", retryAt / 1_000_000) }
    }

    /// Writes `{"type":"symbol",…}`: the status of one symbol. `state` is ``SymbolStatus/word``. The feed subscribes to
    /// a refused symbol again at `retryAt` (ms).
    package static func symbol(_ status: SymbolStatus, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "symbol", number: number)
        out.field("symbol", status.symbol)
        out.field("state", status.word)
        out.field("since", status.since / 1_000_000)
        out.field("reason", status.reason)
        if case .refused(_, let retryAt) = status.state { out.field("retryAt", retryAt / 1_000_000) }
        return out.finish()
    }

    /// The `state` of a symbol without any remaining subscription, in the message of ``released(_:since:number:)``.
    package static let releasedState = "released"

    /// Writes `{"type":"symbol",…,"state":"released"}`: no subscription to the symbol remains, and no further price
    /// follows.
    ///
    /// - Parameter since: our wall clock, ns since 1970.
    package static func released(_ symbol: String, since: Int64, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "symbol", number: number)
        out.field("symbol", symbol)
        out.field("state", Self.releasedState)
        out.field("since", since / 1_000_000)
        out.field("reason", nil as String?)
        return out.finish()
    }

    /// Writes `{"type":"gap",…}`: trades may be missing. `overlap` is null and `overlapBounds` absent if nothing could
    /// be compared. `symbol` is present only if the gap concerns a single symbol, `missing` only if the ids of the
    /// missing trades are known: `{"first":"7","last":"9","count":"3"}`, strings of digits.
    package static func gap(_ gap: Gap, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "gap", number: number)
        Self.write(gap, into: &out)
        return out.finish()
    }

    /// Writes the members of a gap, for a separate message or as part of another object.
    package static func write(_ gap: Gap, into out: inout JSONWriter) {
        out.field("from", gap.from / 1_000_000)
        out.field("to", gap.to / 1_000_000)
        out.field("reason", gap.reason)
        out.field("nextSeq", gap.nextSequence)
        out.field("epoch", gap.epoch)
        out.field("overlap", gap.overlap)
        out.field("cause", gap.cause?.word)
        if let bounds = gap.overlapBounds {
            var numbers = JSONWriter()
            numbers.field("least", bounds.least)
            numbers.field("most", bounds.most)
            out.field("overlapBounds", json: numbers.finish())
        }
        if let symbol = gap.symbol { out.field("symbol", symbol) }
        if let missing = gap.missing { out.missing(missing) }
    }
}
