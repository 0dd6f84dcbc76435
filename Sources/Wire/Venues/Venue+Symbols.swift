import Market

extension Venue {
    /// Returns the tape's name for one of the venue's own names: `KRAKEN:XXBTZUSD` for `BTC/USD`.
    package func symbol(of native: String) -> String {
        switch self {
        case .binance, .coinbase: "\(self.prefix)\(native)"
        case .kraken: "\(self.prefix)\(KrakenNames.symbol(of: native))"
        }
    }

    /// Returns the tape's name for a symbol that may be written in the venue's own way: `KRAKEN:XXBTZUSD` for
    /// `KRAKEN:BTC/USD`.
    package func tapeName(of symbol: String) -> String {
        let prefix = "\(self.prefix)"
        guard symbol.hasPrefix(prefix) else { return symbol }
        return self.symbol(of: String(symbol.dropFirst(prefix.count)))
    }

    /// Returns the venue's own name in the bytes' encoding for the tape's name: `BTC/USD` for `KRAKEN:XXBTZUSD`.
    ///
    /// A pair of Kraken whose key has no code of the first years must be given as a pair: `KRAKEN:SOL/USD`.
    package func native(of symbol: String) -> String {
        let prefix = "\(self.prefix)"
        let name = symbol.hasPrefix(prefix) ? String(symbol.dropFirst(prefix.count)) : symbol
        switch self {
        case .binance, .coinbase: return name
        case .kraken: return KrakenNames.pair(of: name) ?? name
        }
    }

    /// Returns the number of the tape's symbol for the venue's own name in UTF-8, a new one for a new symbol; `nil` if
    /// the table refuses it.
    func intern(_ native: UnsafeRawBufferPointer, in symbols: inout SymbolTable) -> SymbolID? {
        guard !native.isEmpty, native.count <= SymbolTable.maximumNameLength else { return nil }
        switch self {
        case .binance, .coinbase:
            let prefix = UnsafeRawBufferPointer(start: self.prefix.utf8Start, count: self.prefix.utf8CodeUnitCount)
            let length = prefix.count + native.count
            return withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { name in
                name.copyBytes(from: prefix)
                UnsafeMutableRawBufferPointer(rebasing: name[prefix.count...]).copyBytes(from: native)
                return symbols.intern(utf8: UnsafeRawBufferPointer(rebasing: name[..<length]))
            }
        case .kraken:
            guard let name = String(validating: native, as: UTF8.self) else { return nil }
            return symbols.intern(self.symbol(of: name))
        }
    }
}
