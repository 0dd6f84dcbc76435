package import Market
package import NIOCore

/// The writer of the `/v1/stream` messages, one JSON object each.
///
/// Every message of the relay has a number, `n`; where the same objects are lines of a file or of an output, they have none.
///
/// Decimals are strings and exact. `time` is the exchange's clock in ms, `received` our wall clock in µs. `ahead` is there
/// only where it is true.
package enum StreamEncoder {
    /// `{"type":"price",…}`: the newest price, with how many trades were left out since the one before.
    package static func price(_ update: PriceUpdate, number: UInt64? = nil) -> ByteBuffer {
        Self.update(update, type: "price", age: nil, number: number)
    }

    /// `{"type":"snapshot",…}`: the newest price, for a reader that has just come.
    ///
    /// - Parameter age: the time since it arrived, in ns.
    package static func snapshot(
        _ summary: SymbolSummary,
        skipped: UInt64 = 0,
        age: Int64? = nil,
        number: UInt64? = nil
    ) -> ByteBuffer {
        Self.update(PriceUpdate(summary: summary, skipped: skipped), type: "snapshot", age: age, number: number)
    }

    /// `{"type":"trades",…}`: trades came in that showed no new price; `skipped` is 0, the price may be one not yet shown.
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

    /// `{"type":"status",…}`: what is true of the feed.
    ///
    /// `state` is ``FeedStatus/word``; `file` and `speed` are null but for a replay, and `speed` is null as well when it
    /// goes as fast as it can. `cause` is ``FeedStatus/Cause/word``, null while connected. Behind the fixed keys, what is not
    /// the market has `paused`, a simulated market its `seed`, `via` names the relay of another program that the trades come
    /// through, and `attempt` and `retryAt` (ms) say when the next attempt is due.
    package static func status(_ status: FeedStatus, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "status", number: number)
        Self.write(status, into: &out)
        return out.finish()
    }

    /// The keys of a status, in a message of its own or in another one.
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
        // As text, for it may be larger than a reader's numbers are exact.
        if case .simulated(let seed, _) = status.source { out.field("seed", "\(seed)") }
        if let via = status.via { out.field("via", via) }
        if case .reconnecting(let attempt, _) = status.phase { out.field("attempt", attempt) }
        if let retryAt = status.phase.retryAt { out.field("retryAt", retryAt / 1_000_000) }
    }

    /// `{"type":"symbol",…}`: what is true of one symbol; `state` is ``SymbolStatus/word``, and a refused symbol is asked
    /// for again at `retryAt` (ms).
    package static func symbol(_ status: SymbolStatus, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "symbol", number: number)
        out.field("symbol", status.symbol)
        out.field("state", status.word)
        out.field("since", status.since / 1_000_000)
        out.field("reason", status.reason)
        if case .refused(_, let retryAt) = status.state { out.field("retryAt", retryAt / 1_000_000) }
        return out.finish()
    }

    /// What ``symbol(_:number:)`` says of a symbol that nobody asks for any more, as its state.
    package static let releasedState = "released"

    /// `{"type":"symbol",…,"state":"released"}`: nobody asks for the symbol any more, and no price of it comes.
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

    /// `{"type":"gap",…}`: trades may be missing. `overlap` is null where nothing could be compared, and `overlapBounds`
    /// is not there then; `symbol` names the only one concerned and is not there for all.
    package static func gap(_ gap: Gap, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "gap", number: number)
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
        return out.finish()
    }
}
