import Market

/// The tape's symbols for one venue's own names, recognised in received bytes by comparing words.
///
/// A frame contains `BTCUSDT` or `BTC/USD`, the tape's name is `BINANCE:BTCUSDT` or `KRAKEN:XXBTZUSD`. For each name
/// that was seen it remembers the tape's name and its number. The number is only a guess: each use compares the table's
/// name with the remembered one, so that it stays right when the table is replaced by another.
///
/// A name that was seen costs no allocation.
struct VenueSymbols: Sendable {
    /// The largest number of remembered names; beyond it all are forgotten. No table holds more.
    static let capacity = SymbolTable.capacity

    let venue: Venue
    private var names: [VenueSymbolName] = []
    /// A hash table with open addressing: the index of a name, or -1. At most half of it is in use.
    private var slots: [Int16] = []
    /// The newest name, which is the first guess for the next one.
    private var newest = 0

    init(_ venue: Venue) { self.venue = venue }

    /// Consumes a name and the quotation mark after it; `nil` if it is not a plain name, or the table refuses it.
    ///
    /// - Precondition: 32 bytes can be read at `here`, and `end` is at most the end of the frame.
    @inline(__always)
    mutating func take(
        _ here: inout UnsafeRawPointer,
        end: UnsafeRawPointer,
        symbols: inout SymbolTable
    ) -> SymbolID? {
        if self.newest < self.names.count {
            let length = self.names[self.newest].matchQuoted(at: here)
            if length != 0, self.names[self.newest].isCurrent(in: symbols) {
                here += length
                return SymbolID(index: UInt16(truncatingIfNeeded: self.names[self.newest].index))
            }
        }
        return self.takeOther(&here, end: end, symbols: &symbols)
    }

    @inline(never)
    private mutating func takeOther(
        _ here: inout UnsafeRawPointer,
        end: UnsafeRawPointer,
        symbols: inout SymbolTable
    ) -> SymbolID? {
        if let found = self.find(at: here), self.renew(found, in: symbols) {
            self.newest = found
            here += self.names[found].quotedLength
            return SymbolID(index: UInt16(truncatingIfNeeded: self.names[found].index))
        }
        guard
            let length = PlainText.length(at: here, end: end, limit: SymbolTable.maximumNameLength), length > 0
        else { return nil }
        let native = UnsafeRawBufferPointer(start: here, count: length)
        guard let id = self.venue.intern(native, in: &symbols) else { return nil }
        self.remember(native, name: symbols.name(of: id), index: Int(id.index))
        here += length + 1
        return id
    }

    /// Returns the index of the name that stands at `here` with its quotation mark.
    private func find(at here: UnsafeRawPointer) -> Int? {
        guard !self.slots.isEmpty else { return nil }
        let mask = self.slots.count - 1
        var slot = VenueSymbolName.hash(at: here) & mask
        while self.slots[slot] >= 0 {
            let index = Int(self.slots[slot])
            if self.names[index].matchQuoted(at: here) != 0 { return index }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Looks the name up again if the table has changed; `false` if the table does not contain it.
    private mutating func renew(_ index: Int, in symbols: SymbolTable) -> Bool {
        if self.names[index].isCurrent(in: symbols) { return true }
        guard let found = self.names[index].find(in: symbols) else { return false }
        self.names[index].index = found
        return true
    }

    private mutating func remember(_ native: UnsafeRawBufferPointer, name: String, index: Int) {
        guard let entry = VenueSymbolName(native: native, name: name, index: index) else { return }
        if let known = entry.withQuoted({ self.find(at: $0) }) {
            self.names[known].index = index
            self.newest = known
            return
        }
        if self.names.count >= Self.capacity {
            self.names.removeAll(keepingCapacity: true)
            self.slots = []
        }
        self.newest = self.names.count
        self.names.append(entry)
        guard self.names.count * 2 > self.slots.count else { return self.place(self.newest) }
        self.slots = Array(repeating: -1, count: max(32, self.slots.count * 2))
        for index in self.names.indices { self.place(index) }
    }

    private mutating func place(_ index: Int) {
        let mask = self.slots.count - 1
        var slot = self.names[index].hash & mask
        while self.slots[slot] >= 0 { slot = (slot + 1) & mask }
        self.slots[slot] = Int16(index)
    }
}
