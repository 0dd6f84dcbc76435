import Market
import NIOCore
import Wire

/// The lossless readers, those with the same wishes in one group, so that what they get is encoded once.
///
/// Owned by the relay's loop. Generic over the reader, which it only keeps and compares.
struct Audience<Member: AnyObject> {
    /// The same bytes for many readers.
    struct Parcel {
        var members: [Member]
        /// Whole WebSocket frames.
        var bytes: ByteBuffer
        /// The trades in them.
        var trades: UInt64
    }

    private typealias Content = (bytes: ByteBuffer, trades: UInt64)

    private struct Group {
        var members: [Member] = []
        /// The group's symbols as far as the feed has them.
        var wanted = SymbolSet()
    }

    private struct Place {
        var symbols: Set<String>
        var index: Int
    }

    private var groups: [Set<String>: Group] = [:]
    private var places: [ObjectIdentifier: Place] = [:]
    /// The feed's names as last seen; they only grow, and begin anew with another epoch.
    private var epoch: UInt64?
    private var symbols = SymbolTable()

    /// Puts a reader where its wishes belong; without any, it gets nothing.
    mutating func place(_ member: Member, wanting symbols: Set<String>) {
        self.remove(member)
        guard !symbols.isEmpty else { return }
        var group = self.groups.removeValue(forKey: symbols) ?? self.makeGroup(symbols)
        self.places[ObjectIdentifier(member)] = Place(symbols: symbols, index: group.members.count)
        group.members.append(member)
        self.groups[symbols] = group
    }

    /// Forgets a reader, in constant time.
    mutating func remove(_ member: Member) {
        guard let place = self.places.removeValue(forKey: ObjectIdentifier(member)),
            var group = self.groups.removeValue(forKey: place.symbols)
        else { return }
        let last = group.members.removeLast()
        if last !== member {
            group.members[place.index] = last
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if !group.members.isEmpty { self.groups[place.symbols] = group }
    }

    /// Encodes what the batches hold for each group; groups that want the same of them share one buffer.
    mutating func parcels(of batches: ArraySlice<TapeBatch>) -> [Parcel] {
        guard !self.groups.isEmpty, let newest = batches.last else { return [] }
        self.learn(newest)
        let present = TradeCourier.symbols(in: batches)
        // Most want all of a read, which mostly is of one symbol; that needs no table.
        var whole: Content?
        var parts: [SymbolSet: Content] = [:]
        var parcels: [Parcel] = []
        for group in self.groups.values {
            let wanted = group.wanted.intersection(present)
            guard !wanted.isEmpty else { continue }
            let isAll = wanted == present
            let content =
                (isAll ? whole : parts[wanted]) ?? TradeCourier.encode(batches, wanted: wanted, isAll: isAll)
            if isAll { whole = content } else { parts[wanted] = content }
            parcels.append(Parcel(members: group.members, bytes: content.bytes, trades: content.trades))
        }
        return parcels
    }

    /// Learns the feed's new symbols, which may be some that readers have waited for.
    private mutating func learn(_ batch: TapeBatch) {
        guard batch.epoch != self.epoch || batch.symbols.count != self.symbols.count else { return }
        self.epoch = batch.epoch
        self.symbols = batch.symbols
        for key in Array(self.groups.keys) {
            let wanted = self.known(key)
            self.groups[key]?.wanted = wanted
        }
    }

    private func makeGroup(_ symbols: Set<String>) -> Group { Group(wanted: self.known(symbols)) }

    private func known(_ names: Set<String>) -> SymbolSet {
        var set = SymbolSet()
        for name in names {
            if let symbol = self.symbols.id(of: name) { set.insert(symbol) }
        }
        return set
    }
}
