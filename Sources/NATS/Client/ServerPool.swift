/// The servers of a client, in the order in which they are tried. A value; chance is an argument.
///
/// A round tries each server of the settings once, and behind each of them one of those that a server has named as a
/// member of its cluster. So names that lead nowhere delay the way back to the settings' servers by one attempt only.
struct ServerPool: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        var address: ServerAddress
        /// The name that the server's certificate must have.
        var certificateName: String
        /// The host in the settings from which it was learned, at first hand or not; its own for a server of the
        /// settings.
        var origin: String
        var isConfigured: Bool
        /// The refusals of the credentials in a row.
        var refusals = 0
    }

    /// The most servers that are learned.
    static let maximumLearned = 16

    /// The next one first, in both.
    private var configured: [Member]
    private var learned: [Member] = []
    /// Whether a learned one is next.
    private var isLearnedNext = false
    /// The servers of the settings tried in this round.
    private var tried = 0
    /// The whole rounds since the last good connection.
    private(set) var rounds = 0

    /// - Parameter chance: uniformly distributed from 0 to 1; clients with the same settings begin at different
    ///   servers.
    init(_ addresses: [ServerAddress], chance: Double) {
        precondition(!addresses.isEmpty, "a NATS client needs a server")
        var members: [Member] = []
        for address in addresses {
            if let index = members.firstIndex(where: { $0.address.isSame(as: address) }) {
                if address.demandsTLS { members[index].address = address }
            } else {
                let host = address.host
                members.append(Member(address: address, certificateName: host, origin: host, isConfigured: true))
            }
        }
        self.configured = Self.rotated(members, chance)
    }

    private static func rotated<Element>(_ elements: [Element], _ chance: Double) -> [Element] {
        guard !elements.isEmpty else { return [] }
        let first = max(0, min(elements.count - 1, Int(chance * Double(elements.count))))
        return Array(elements[first...] + elements[..<first])
    }

    /// All of them, those of the settings first.
    var members: [Member] { self.configured + self.learned }

    /// Takes the next member to try, which becomes the last of its kind.
    mutating func next() -> Member {
        if self.isRoundOver { self.tried = 0 }
        let member: Member
        if self.isLearnedNext, !self.learned.isEmpty {
            member = self.learned.removeFirst()
            self.learned.append(member)
            self.isLearnedNext = false
        } else {
            member = self.configured.removeFirst()
            self.configured.append(member)
            self.tried += 1
            self.isLearnedNext = true
        }
        if self.isRoundOver { self.rounds += 1 }
        return member
    }

    /// Whether each member of the settings was tried, and one that was learned behind it.
    var isRoundOver: Bool { self.tried >= self.configured.count && (!self.isLearnedNext || self.learned.isEmpty) }

    /// A connection was good: the next attempt begins a new series.
    mutating func settled() {
        self.tried = 0
        self.rounds = 0
    }

    // MARK: Cluster

    /// Takes the addresses that a server has named.
    ///
    /// - Parameter isEncrypted: whether it has named them over TLS. Then they are connected by TLS only, like those
    ///   that a server with such an address names: an attacker on the way to them must not be able to prevent it.
    mutating func learn(_ addresses: [ServerAddress], from current: Member, isEncrypted: Bool, chance: Double) {
        guard !addresses.isEmpty else { return }
        let demandsTLS = isEncrypted || current.address.demandsTLS
        var fresh: [Member] = []
        for named in addresses {
            let address = ServerAddress(host: named.host, port: named.port, demandsTLS: demandsTLS)
            if let index = self.learned.firstIndex(where: { $0.address.isSame(as: address) }) {
                if demandsTLS { self.learned[index].address = address }
            } else if !(self.configured + fresh).contains(where: { $0.address.isSame(as: address) }) {
                fresh.append(Self.member(address, namedBy: current))
            }
        }
        self.learned.removeAll { member in
            !addresses.contains { $0.isSame(as: member.address) } && !member.address.isSame(as: current.address)
        }
        // Clients of one server come to different ones.
        self.learned = Self.rotated(fresh, chance).prefix(Self.maximumLearned - self.learned.count) + self.learned
    }

    /// A server that is known by its IP address has the certificate of the host in the settings, since certificates
    /// rarely have addresses; but where that host is an address itself, it has one of its own. A server that is known
    /// by a name has a certificate for it only if the name belongs to the same domain as the settings' host.
    private static func member(_ address: ServerAddress, namedBy current: Member) -> Member {
        let origin = current.origin
        let isOwn: Bool
        switch (address.isIPAddress, ServerAddress(host: origin).isIPAddress) {
        case (true, let isOriginAddress): isOwn = isOriginAddress
        case (false, true): isOwn = false
        case (false, false): isOwn = Self.isSameDomain(address.host.lowercased(), origin.lowercased())
        }
        return Member(
            address: address,
            certificateName: isOwn ? address.host : origin,
            origin: origin,
            isConfigured: false
        )
    }

    /// Returns whether a name is below another one, or below its parent, if that has two labels or more.
    private static func isSameDomain(_ name: String, _ origin: String) -> Bool {
        if name == origin || name.hasSuffix(".\(origin)") { return true }
        guard let dot = origin.firstIndex(of: ".") else { return false }
        let parent = origin[dot...]
        return parent.dropFirst().contains(".") && name.hasSuffix(parent)
    }

    // MARK: Credentials

    /// Notes that a server of the settings has refused the credentials.
    mutating func refused(by member: Member) {
        self.change(member) { $0.refusals += 1 }
    }

    mutating func accepted(by member: Member) {
        self.change(member) { $0.refusals = 0 }
    }

    private mutating func change(_ member: Member, _ body: (inout Member) -> Void) {
        guard let index = self.configured.firstIndex(where: { $0.address.isSame(as: member.address) }) else { return }
        body(&self.configured[index])
    }

    /// Whether each server of the settings has refused the credentials twice in a row. Once may be a server that is
    /// being configured.
    var isRefusedByAll: Bool { self.configured.allSatisfy { $0.refusals >= 2 } }
}
