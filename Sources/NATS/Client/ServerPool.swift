/// The servers of a client, in the order in which they are tried. A value; chance is an argument.
///
/// A round tries each server once. Servers that a server names as members of its cluster are added at random places,
/// and removed when it names them no more; those of the settings stay.
struct ServerPool: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        var address: ServerAddress
        /// The name that the server's certificate must have. A server of the cluster that is known by its IP address
        /// has the name of the server that named it, since certificates rarely have addresses.
        var certificateName: String
        var isConfigured: Bool
        /// The refusals of the credentials in a row.
        var refusals = 0
    }

    /// The next one first.
    private(set) var members: [Member]
    /// The members tried in this round.
    private var tried = 0
    /// The whole rounds since the last good connection.
    private(set) var rounds = 0

    /// - Parameter chance: uniformly distributed from 0 to 1; clients with the same settings begin at different
    ///   servers.
    init(_ addresses: [ServerAddress], chance: Double) {
        precondition(!addresses.isEmpty, "a NATS client needs a server")
        var seen: Set<ServerAddress> = []
        let members = addresses.filter { seen.insert($0).inserted }.map {
            Member(address: $0, certificateName: $0.host, isConfigured: true)
        }
        let first = Self.place(chance, of: members.count)
        self.members = Array(members[first...] + members[..<first])
    }

    private static func place(_ chance: Double, of count: Int) -> Int {
        max(0, min(count - 1, Int(chance * Double(count))))
    }

    /// Takes the next member to try, which becomes the last.
    mutating func next() -> Member {
        if self.isRoundOver { self.tried = 0 }
        let member = self.members.removeFirst()
        self.members.append(member)
        self.tried += 1
        if self.isRoundOver { self.rounds += 1 }
        return member
    }

    /// Whether each member was tried.
    var isRoundOver: Bool { self.tried >= self.members.count }

    /// A connection was good: the next attempt begins a new series.
    mutating func settled() {
        self.tried = 0
        self.rounds = 0
    }

    /// Takes the addresses that a server has named.
    mutating func learn(_ addresses: [ServerAddress], from current: Member, chance: Double) {
        guard !addresses.isEmpty else { return }
        let named = Set(addresses)
        self.members.removeAll { !$0.isConfigured && !named.contains($0.address) && $0.address != current.address }
        for (index, address) in addresses.enumerated()
        where !self.members.contains(where: { $0.address == address }) {
            let chance = (chance * Double(index + 1)).truncatingRemainder(dividingBy: 1)
            let name = address.isIPAddress ? current.certificateName : address.host
            let member = Member(address: address, certificateName: name, isConfigured: false)
            // Never behind the last, which is the present one.
            self.members.insert(member, at: Self.place(chance, of: self.members.count))
        }
        self.tried = min(self.tried, self.members.count)
    }

    /// Notes a refusal of the credentials; returns how many there were in a row from this server.
    mutating func refused(by address: ServerAddress) -> Int {
        guard let index = self.members.firstIndex(where: { $0.address == address }) else { return 1 }
        self.members[index].refusals += 1
        return self.members[index].refusals
    }

    mutating func accepted(by address: ServerAddress) {
        guard let index = self.members.firstIndex(where: { $0.address == address }) else { return }
        self.members[index].refusals = 0
    }
}
