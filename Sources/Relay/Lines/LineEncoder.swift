import Market
import NIOCore
import Wire

/// The encoder of lines, without their line ends.
///
/// - Plain: `BINANCE:BTCUSDT 61837.63 0.02 2026-11-25T12:34:56.123Z`, exact and with the exchange's time. Data that is
///   not the market's ends with `DEMO`, `REPLAY` or `SIMULATED`, and then a filled trade with `FILLED`. Other lines
///   begin with `# `.
/// - JSON: the messages of `/v1/stream` without `n`, each with its `source`, as `--format json` writes them.
struct LineEncoder {
    let form: LineForm
    /// The origin of the trades.
    let status: FeedStatus

    /// Returns the marks that stand at the end of a plain line.
    static func marks(of status: FeedStatus) -> [String] {
        [status.certificateMark, status.source.mark].compactMap(\.self)
    }

    func notice(_ notice: LineNotice) -> ByteBuffer? {
        switch self.form {
        case .plain: notice.words.map { ByteBuffer(string: "# \($0)") }
        case .json: self.line(of: notice.object, saysSource: notice.saysSource)
        }
    }

    /// - Parameters:
    ///   - isFirst: whether the client had no price of the symbol before.
    ///   - skipped: the trades that were left out since the last one.
    ///   - age: the time since the trade arrived, ns.
    func price(_ summary: SymbolSummary, isFirst: Bool, skipped: UInt64, age: Int64?) -> ByteBuffer {
        switch self.form {
        case .plain:
            var out = ByteBuffer()
            self.plain(
                ByteBuffer(string: Self.plainName(summary.symbol)),
                price: summary.price,
                size: summary.size,
                time: summary.exchangeTime,
                into: &out
            )
            return out
        case .json where isFirst:
            return self.line(of: StreamEncoder.snapshot(summary, skipped: skipped, age: age))
        case .json:
            return self.line(of: StreamEncoder.price(PriceUpdate(summary: summary, skipped: skipped)))
        }
    }

    /// Writes a trade.
    ///
    /// - Parameter symbol: its name in this form (``SymbolTexts``).
    func trade(
        _ trade: Trade,
        symbol: ByteBuffer,
        sequence: UInt64,
        received: Int64,
        into out: inout ByteBuffer
    ) {
        switch self.form {
        case .plain:
            self.plain(symbol, price: trade.price, size: trade.size, time: trade.exchangeTime, into: &out)
            if trade.isFilled { out.writeStaticString(" FILLED") }
        case .json:
            StreamEncoder.trade(
                trade,
                symbol: symbol,
                sequence: sequence,
                received: received,
                number: nil,
                into: &out
            )
            StreamLine.add(self.status.source, toObjectIn: &out)
        }
    }

    private func plain(
        _ symbol: ByteBuffer,
        price: ExactDecimal,
        size: ExactDecimal,
        time: Int64,
        into out: inout ByteBuffer
    ) {
        out.writeImmutableBuffer(symbol)
        out.writeStaticString(" ")
        JSONText.write(price, into: &out)
        out.writeStaticString(" ")
        JSONText.write(size, into: &out)
        out.writeStaticString(" ")
        out.writeString(UTCText.timestamp(time))
        for mark in Self.marks(of: self.status) {
            out.writeStaticString(" ")
            out.writeString(mark)
        }
    }

    /// Returns a symbol as one word of a plain line, which never begins with `#`: other lines begin so.
    static func plainName(_ symbol: String) -> String {
        let word = SymbolName.word(symbol)
        return word.utf8.first == UInt8(ascii: "#") ? "_\(word.dropFirst())" : word
    }

    private func line(of object: ByteBuffer, saysSource: Bool = false) -> ByteBuffer {
        ByteBuffer(bytes: StreamLine.text(of: object, source: saysSource ? nil : self.status.source))
    }
}

extension SymbolTexts {
    /// Makes the names in lines of a form.
    init(_ form: LineForm) {
        switch form {
        case .plain: self.init { name, out in out.writeString(LineEncoder.plainName(name)) }
        case .json:
            self.init { name, out in
                var text = ByteBuffer()
                JSONText.escape(name, into: &text)
                out.writeBytes(JSONText.printable(text.readableBytesView))
            }
        }
    }
}
