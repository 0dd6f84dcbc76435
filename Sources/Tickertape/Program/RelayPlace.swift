import Relay

/// Where the relay listens: at the address and the socket file of the settings, or at a socket that the program was started
/// with.
struct RelayPlace {
    /// The relay's settings for this place; without an address it listens at the socket file alone.
    let settings: RelaySettings
    /// The socket file, beside the address or instead.
    let socket: String?
    /// Whether it speaks TLS at the address.
    let isEncrypted: Bool

    /// Finds the place, and says where it is another one than the settings'; `nil` where the relay is off.
    init?(_ settings: Settings, inherited: InheritedSocket?, isEncrypted: Bool) {
        var relay = settings.relay
        var socket = relay.unixSocket
        if let wanted = relay.listen, let inherited {
            let isChosen = settings.origin(of: .relayListen) != .builtIn
            let listen = inherited.endpoint(listen: wanted, isChosen: isChosen) { Console.complain($0) }
            // The address in the settings has had its warning.
            if wanted.isLoopback, let warning = Settings.warning(of: listen) {
                Console.complain("warning: \(warning)")
            }
            relay.listen = listen
            relay.inheritedSocket = inherited.descriptor
            if case .file(let path) = inherited.place {
                relay.listen = nil
                socket = socket ?? path
            }
        } else if inherited != nil {
            Console.complain("relay.listen is off, so the socket that was passed is not used")
        }
        guard relay.listen != nil || socket != nil else { return nil }
        relay.token = settings.relayToken
        relay.version = tickertapeVersion
        self.settings = relay
        self.socket = socket
        self.isEncrypted = isEncrypted
    }

    /// Where clients find the relay, as a person writes it.
    ///
    /// - Parameter endpoint: where it listens; `nil` before it does, or where it listens at the socket file alone.
    func url(at endpoint: Endpoint?) -> String {
        guard let endpoint = endpoint ?? self.settings.listen else { return "ws+unix:\(self.socket ?? "")" }
        return "\(self.isEncrypted ? "wss" : "ws")://\(endpoint)"
    }
}
