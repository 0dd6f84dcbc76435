package import Market
package import NIOCore

/// The reader of Finnhub's `/quote`: `{"c":61837.63,"d":…,"dp":…,"h":…,"l":…,"o":…,"pc":61000.1,"t":1764268800}`.
package enum PreviousClose {
    /// Returns the previous close; `nil` if the answer has none. The service answers with zeros for a symbol that it does
    /// not know.
    package static func read(_ body: ByteBuffer) -> ExactDecimal? {
        body.withUnsafeReadableBytes { bytes in
            var close: ExactDecimal?
            let isWhole = JSONReader.wholeObject(bytes) { key, reader in
                guard key.equals("pc"), reader.kind() == .number else { return reader.skipValue() }
                if case .number(let number, _) = reader.number() { close = number }
                return true
            }
            guard isWhole, let close, TradeBounds.canBePrice(close) else { return nil }
            return close
        }
    }
}
