/// The sessions that get every trade, grouped by what they get in which form, so that each group's bytes are made once.
struct WAMPTradeGroups {
    /// What makes the bytes of two sessions the same.
    struct Key: Hashable {
        let serialisation: WAMPSerialisation
        /// The subscriptions that trades match, in order.
        let subscriptions: [UInt64]
    }

    private struct Place {
        var key: Key
        var index: Int
    }

    /// The members of each group, in no order.
    private var groups: [Key: [WAMPClient]] = [:]
    private var places: [ObjectIdentifier: Place] = [:]

    var isEmpty: Bool { self.groups.isEmpty }

    /// Moves a session to the group of its subscriptions. Without any it gets nothing.
    mutating func place(_ client: WAMPClient, wanting subscriptions: [UInt64]) {
        self.remove(ObjectIdentifier(client))
        guard !subscriptions.isEmpty else { return }
        let key = Key(serialisation: client.serialisation, subscriptions: subscriptions)
        self.places[ObjectIdentifier(client)] = Place(key: key, index: self.groups[key]?.count ?? 0)
        self.groups[key, default: []].append(client)
    }

    /// Removes a session, in constant time.
    private mutating func remove(_ id: ObjectIdentifier) {
        guard let place = self.places.removeValue(forKey: id),
            let last = self.groups[place.key, default: []].popLast()
        else { return }
        if ObjectIdentifier(last) != id {
            self.groups[place.key]?[place.index] = last
            self.places[ObjectIdentifier(last)]?.index = place.index
        }
        if self.groups[place.key]?.isEmpty == true { self.groups[place.key] = nil }
    }

    /// The groups with copies of their members: a write may end a session, which then leaves.
    var all: [(key: Key, members: [WAMPClient])] { self.groups.map { ($0.key, $0.value) } }
}
