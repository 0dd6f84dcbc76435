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

    /// Readers who want the same of some batches.
    struct Portion {
        var members: [Member]
        /// Symbols that are in the batches.
        var wanted: SymbolSet
    }

    /// What a reader wants.
    struct Wish: Hashable {
        /// Whether it is everything but `symbols`; else it is these.
        var isEverything = false
        var symbols: Set<String>

        var isEmpty: Bool { !self.isEverything && self.symbols.isEmpty }
    }

    private struct Group {
        var members: [Member] = []
        /// The symbols that the wish names as far as the feed has them.
        var named = SymbolSet()
    }

    private struct Place {
        var wish: Wish
        var index: Int
    }

    private var groups: [Wish: Group] = [:]
    private var places: [ObjectIdentifier: Place] = [:]
    /// The feed's names as last seen; they only grow, and begin anew with another epoch.
    private var epoch: UInt64?
    private var symbols = SymbolTable()

    /// Puts a reader where its wishes belong; without any, it gets nothing.
    mutating func place(_ member: Member, wanting symbols: Set<String>) {
        self.place(member, wanting: Wish(symbols: symbols))
    }

    mutating func place(_ member: Member, wanting wish: Wish) {
        self.remove(member)
        guard !wish.isEmpty else { return }
        var group = self.groups.removeValue(forKey: wish) ?? Group(named: self.known(wish.symbols))
        self.places[ObjectIdentifier(member)] = Place(wish: wish, index: group.members.count)
        group.members.append(member)
        self.groups[wish] = group
    }

    /// Forgets a reader, in constant time.
    mutating func remove(_ member: Member) {
        guard let place = self.places.removeValue(forKey: ObjectIdentifier(member)),
            var group = self.groups.removeValue(forKey: place.wish)
        else { return }
        let last = group.members.removeLast()
        if last !== member {
            group.members[place.index] = last
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if !group.members.isEmpty { self.groups[place.wish] = group }
    }

    /// Encodes what the batches hold for each group; groups that want the same of them share one buffer.
    mutating func parcels(of batches: ArraySlice<TapeBatch>) -> [Parcel] {
        guard !self.groups.isEmpty else { return [] }
        let present = TradeCourier.symbols(in: batches)
        var encoded: [SymbolSet: (bytes: ByteBuffer, trades: UInt64)] = [:]
        return self.portions(of: batches, present: present).map { portion in
            let content: (bytes: ByteBuffer, trades: UInt64)
            if let known = encoded[portion.wanted] {
                content = known
            } else {
                content = TradeCourier.encode(batches, wanted: portion.wanted, isAll: portion.wanted == present)
                encoded[portion.wanted] = content
            }
            return Parcel(members: portion.members, bytes: content.bytes, trades: content.trades)
        }
    }

    /// Finds out who wants something of the batches, and what.
    ///
    /// - Parameter present: the symbols of the batches' trades.
    mutating func portions(of batches: ArraySlice<TapeBatch>, present: SymbolSet) -> [Portion] {
        guard !self.groups.isEmpty, let newest = batches.last else { return [] }
        self.learn(newest)
        var portions: [Portion] = []
        for (wish, group) in self.groups {
            let wanted = wish.isEverything ? present.subtracting(group.named) : group.named.intersection(present)
            if !wanted.isEmpty { portions.append(Portion(members: group.members, wanted: wanted)) }
        }
        return portions
    }

    /// Whether anybody wants anything.
    var isEmpty: Bool { self.groups.isEmpty }

    /// Learns the feed's new symbols, which may be some that readers have waited for.
    private mutating func learn(_ batch: TapeBatch) {
        guard batch.epoch != self.epoch || batch.symbols.count != self.symbols.count else { return }
        self.epoch = batch.epoch
        self.symbols = batch.symbols
        for key in Array(self.groups.keys) {
            let named = self.known(key.symbols)
            self.groups[key]?.named = named
        }
    }

    private func known(_ names: Set<String>) -> SymbolSet {
        var set = SymbolSet()
        for name in names {
            if let symbol = self.symbols.id(of: name) { set.insert(symbol) }
        }
        return set
    }
}
