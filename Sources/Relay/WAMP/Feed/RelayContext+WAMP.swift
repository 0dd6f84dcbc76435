import Market
import NIOCore
import Wire

/// The answers of this program's procedures: the objects of `/v1/stream` and of the HTTP API.
extension RelayContext {
    /// Returns the result of a call.
    func result(of procedure: WAMPProcedure) throws(WAMPFailure) -> WAMPValue {
        switch procedure {
        case .snapshot(let symbol?):
            guard let newest = self.newest(of: symbol) else { throw .noSuchSymbol(symbol) }
            return .json(StreamEncoder.snapshot(newest))
        case .snapshot(nil):
            return .list(self.summaries.map { .json(StreamEncoder.snapshot($0)) })
        case .symbols:
            return .list(self.symbols.map { self.object(of: $0) })
        case .trades(let symbol, let limit):
            guard let trades = self.trades(of: symbol, limit: limit) else { throw .noSuchSymbol(symbol) }
            return .json(line: StatusAnswers.trades(trades))
        case .bars(let symbol, let width, let limit):
            let query = BarQuery(width: width, limit: limit)
            guard let bars = self.bars(of: symbol, query) else { throw .noSuchSymbol(symbol) }
            return .json(line: bars.body(symbol, query))
        case .room(let name):
            return .json(self.rooms.encodedState(of: name))
        }
    }

    private func object(of symbol: String) -> WAMPValue {
        let newest = self.newest(of: symbol)
        let status = self.status(of: symbol)
        return .dictionary([
            "symbol": .text(symbol),
            "state": .text(status?.word ?? (newest == nil ? "asked" : "live")),
            "reason": status?.reason.map { .text($0) } ?? .null,
            "trades": .number(newest?.trades ?? 0),
        ])
    }
}

extension WAMPValue {
    /// Makes the value of JSON that a line feed ends.
    fileprivate static func json(line: ByteBuffer) -> WAMPValue {
        var json = line
        json.moveWriterIndex(to: json.writerIndex - 1)
        return .json(json)
    }
}

extension WAMPFailure {
    fileprivate static func noSuchSymbol(_ symbol: String) -> WAMPFailure {
        WAMPFailure(.noSuchSymbol, "no trade of \(SymbolErrors.excerpt(of: symbol)) has come")
    }
}
