/// The protocols that a relay speaks.
package struct RelayProtocols {
    let all: [any RelayProtocol.Type]

    /// The paths of their WebSockets.
    package var paths: [String] { self.all.map { $0.path }.filter { !$0.isEmpty } }

    /// Returns the protocol at a path.
    func at(_ path: some StringProtocol) -> (any RelayProtocol.Type)? {
        let path = Substring(path)
        return self.all.first { $0.serves(path) }
    }
}
