import Market
package import NIOCore
package import Wire

/// The symbols that trade in some lines of a recording or are subscribed in them, and the services of each, in the order in
/// which they are found.
package struct SymbolCollection: Sendable {
    private var reader = FrameReader()
    private var table = SymbolTable()
    private var trades: [Trade] = []
    /// The services of each symbol, by its number.
    private var found: [RecordedServices] = []
    /// The services of the connections' frames, also of those without trades.
    package private(set) var services = RecordedServices()
    /// The services that answered over REST.
    package private(set) var answers = RecordedServices()

    package init() {}

    package var names: [String] { self.table.names }

    /// The services by symbol; only those of symbols that are known to have any.
    package var servicesBySymbol: [String: RecordedServices] {
        var services: [String: RecordedServices] = [:]
        for (name, found) in zip(self.names, self.found) where !found.isEmpty { services[name] = found }
        return services
    }

    /// Whether each of these symbols has come from a service.
    package func knowsServices(of symbols: [String]) -> Bool {
        symbols.allSatisfy { symbol in
            self.table.id(of: symbol).map { Int($0.index) < self.found.count && !self.found[Int($0.index)].isEmpty }
                ?? false
        }
    }

    /// Takes a frame. The answer of a REST service proves no connection to it: it may have filled a gap of Finnhub's.
    package mutating func take(_ frame: ByteBuffer, of dialect: FrameDialect) {
        _ = self.reader.read(frame, of: dialect, symbols: &self.table, into: &self.trades)
        defer { self.trades.removeAll(keepingCapacity: true) }
        guard dialect.answering == nil else { return self.answers.insert(dialect.ofConnection) }
        self.services.insert(dialect)
        for trade in self.trades { self.note(dialect, at: Int(trade.symbol.index)) }
    }

    /// Takes a note, which may be about a subscription.
    package mutating func take(_ note: RecordedNote) {
        guard note.kind == .subscribe, let written = note.symbol else { return }
        guard let symbol = self.table.intern(Venue(of: written)?.tapeName(of: written) ?? written) else { return }
        guard let dialect = note.frame.flatMap(FrameDialect.init(ofRequest:)) else { return }
        self.note(dialect, at: Int(symbol.index))
    }

    /// Takes a line of any kind.
    mutating func take(_ line: RecordedLine) {
        switch line.content {
        case .frame(let frame, _, let dialect): self.take(frame, of: dialect)
        case .note(let note): self.take(note)
        case .gap, .header, .unknown, .damaged, .torn, .unreadable: break
        }
    }

    private mutating func note(_ dialect: FrameDialect, at symbol: Int) {
        while self.found.count <= symbol { self.found.append(RecordedServices()) }
        self.found[symbol].insert(dialect)
    }
}

/// A set of services, by the dialects of their connections.
package struct RecordedServices: Sendable, Equatable {
    private var bits: UInt32 = 0

    package init() {}

    package var isEmpty: Bool { self.bits == 0 }
    package var dialects: [FrameDialect] { FrameDialect.allCases.filter(self.contains) }

    package func contains(_ dialect: FrameDialect) -> Bool { self.bits & Self.bit(dialect) != 0 }
    package mutating func insert(_ dialect: FrameDialect) { self.bits |= Self.bit(dialect) }
    package mutating func formUnion(_ others: RecordedServices) { self.bits |= others.bits }

    private static func bit(_ dialect: FrameDialect) -> UInt32 { 1 << UInt32(dialect.rawValue) }
}
