package import Market
package import NIOCore

/// The messages about the connection itself, and single trades.
extension StreamEncoder {
    /// Writes `{"type":"hello",…}`: the first message of a connection.
    package static func hello(_ hello: StreamHello, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "hello", number: number)
        out.field("protocol", StreamHello.protocolName)
        out.field("version", hello.version)
        out.field("epoch", hello.epoch)
        out.field("seq", hello.newest)
        out.field("oldest", hello.oldest)
        if let earliest = hello.earliest { out.field("earliest", earliest.description) }
        out.object("resume") { out in
            out.field("trades", hello.resumeTrades)
            out.field("seconds", hello.resumeSeconds)
        }
        out.object("limits") { out in
            out.field("symbols", hello.limits.symbols)
            out.field("messageBytes", hello.limits.messageBytes)
            out.field("waitingBytes", hello.limits.waitingBytes)
            out.field("waitingMessages", hello.limits.waitingMessages)
            out.field("requestBurst", hello.limits.requestBurst)
            out.field("requestsPerSecond", hello.limits.requestsPerSecond)
            out.field("everyMin", StreamDelivery.intervals.lowerBound)
            out.field("everyMax", StreamDelivery.intervals.upperBound)
        }
        out.field("time", hello.time / 1_000_000)
        out.object("status") { out in
            Self.write(hello.status, into: &out)
        }
        if let replay = hello.replay { out.field("replay", json: Self.replayObject(replay)) }
        out.array("symbols") { out in
            for symbol in hello.symbols {
                out.element { out in
                    out.field("symbol", symbol.name)
                    if let summary = symbol.summary { out.summary(summary, skipped: nil) }
                    if let age = symbol.age { out.field("age", age / 1_000_000) }
                    out.field("state", symbol.state)
                }
            }
        }
        return out.finish()
    }

    /// Writes `{"type":"subscribed",…}`: the answer to a subscription; `symbols` is null for all symbols.
    package static func subscribed(
        _ symbols: [String]?,
        delivery: StreamDelivery,
        number: UInt64? = nil
    ) -> ByteBuffer {
        var out = JSONWriter(type: "subscribed", number: number)
        if let symbols {
            out.field("symbols", symbols)
        } else {
            out.field("symbols", nil as String?)
        }
        out.field("delivery", delivery.word)
        if case .every(let milliseconds) = delivery { out.field("every", milliseconds) }
        return out.finish()
    }

    /// Writes `{"type":"resumed",…}`: the end of the trades that the client missed and requested with `since`.
    ///
    /// - Parameters:
    ///   - from: the number that the client sent.
    ///   - to: the number of the last missed trade; live trades follow.
    ///   - trades: how many of these trades belong to the client's symbols.
    package static func resumed(
        epoch: UInt64,
        from: UInt64,
        to: UInt64,
        trades: UInt64,
        isComplete: Bool,
        number: UInt64? = nil
    ) -> ByteBuffer {
        var out = JSONWriter(type: "resumed", number: number)
        out.field("epoch", epoch)
        out.field("from", from)
        out.field("to", to)
        out.field("trades", trades)
        out.field("complete", isComplete)
        return out.finish()
    }

    /// Writes `{"type":"gap","cause":"resume",…}`: the relay does not hold the trades after the number that the client
    /// sent. `from` is null if the time of that number is unknown.
    package static func resumeGap(
        from: Int64?,
        to: Int64,
        reason: String,
        nextSequence: UInt64,
        epoch: UInt64,
        number: UInt64? = nil
    ) -> ByteBuffer {
        var out = JSONWriter(type: "gap", number: number)
        out.field("from", from.map { Int($0 / 1_000_000) })
        out.field("to", to / 1_000_000)
        out.field("reason", reason)
        out.field("nextSeq", nextSequence)
        out.field("epoch", epoch)
        out.field("overlap", nil as Int?)
        out.field("cause", "resume")
        return out.finish()
    }

    /// Writes `{"type":"skipped",…}`: `trades` trades, numbered within `range`, were left out because the client was
    /// too slow.
    package static func skipped(trades: UInt64, in range: ClosedRange<UInt64>, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "skipped", number: number)
        out.field("trades", trades)
        out.field("from", range.lowerBound)
        out.field("to", range.upperBound)
        return out.finish()
    }

    /// Writes `{"type":"pong",…}`: the answer to a ping.
    ///
    /// - Parameters:
    ///   - id: the ping's id as JSON, if it had one.
    ///   - time: our wall clock, ns since 1970.
    package static func pong(id: ByteBuffer?, time: Int64, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "pong", number: number)
        if let id { out.field("id", json: id) }
        out.field("time", time / 1_000_000)
        return out.finish()
    }

    /// Writes `{"type":"error","msg":"…"}`.
    ///
    /// - Parameter code: a stable word for programs.
    package static func error(_ text: String, code: String? = nil, number: UInt64? = nil) -> ByteBuffer {
        var out = JSONWriter(type: "error", number: number)
        out.field("msg", text)
        if let code { out.field("code", code) }
        return out.finish()
    }

    /// Writes `{"type":"trade",…}`: one trade, for a client that gets every trade.
    ///
    /// - Parameters:
    ///   - symbol: the symbol's name as a JSON string with its quotation marks.
    ///   - received: our wall clock at the arrival, ns since 1970.
    package static func trade(
        _ trade: Trade,
        symbol: ByteBuffer,
        sequence: UInt64,
        received: Int64,
        number: UInt64?,
        into buffer: inout ByteBuffer
    ) {
        if let number {
            buffer.writeStaticString("{\"type\":\"trade\",\"n\":")
            JSONText.write(number, into: &buffer)
        } else {
            buffer.writeStaticString("{\"type\":\"trade\"")
        }
        buffer.writeStaticString(",\"symbol\":")
        buffer.writeImmutableBuffer(symbol)
        buffer.writeStaticString(",\"seq\":")
        JSONText.write(sequence, into: &buffer)
        buffer.writeStaticString(",\"price\":\"")
        JSONText.write(trade.price, into: &buffer)
        buffer.writeStaticString("\",\"size\":\"")
        JSONText.write(trade.size, into: &buffer)
        buffer.writeStaticString("\",\"time\":")
        JSONText.write(trade.exchangeTime / 1_000_000, into: &buffer)
        buffer.writeStaticString(",\"received\":")
        JSONText.write(received / 1_000, into: &buffer)
        JSONText.details(of: trade, into: &buffer)
        buffer.writeStaticString("}")
    }
}
