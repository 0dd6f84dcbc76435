import Feeds
import HTTP
import Relay

/// The place where the relay listens: the address and the Unix socket of the settings, or an inherited socket.
struct RelayPlace {
    /// The relay's settings for this place. Without an address, the relay listens on the Unix socket only.
    let settings: RelaySettings
    /// The Unix socket, beside the address or instead of it.
    let socket: String?
    /// Whether the address uses TLS.
    let isEncrypted: Bool

    /// Determines the place, and reports where it differs from the settings; `nil` if the relay is off.
    init?(_ settings: Settings, inherited: InheritedSocket?, isEncrypted: Bool) {
        var relay = settings.relay
        var socket = relay.unixSocket
        if let wanted = relay.listen, let inherited {
            let isChosen = settings.origin(of: .relayListen) != .builtIn
            let listen = inherited.endpoint(listen: wanted, isChosen: isChosen) { Console.printError($0) }
            // `checkRelay` has already warned of an address in the settings that is not loopback.
            if wanted.isLoopback, let warning = Settings.warning(of: listen) {
                Console.printError("warning: \(warning)")
            }
            relay.listen = listen
            relay.inheritedSocket = inherited.descriptor
            if case .file(let path) = inherited.place {
                relay.listen = nil
                socket = socket ?? path
            }
        } else if inherited != nil {
            Console.printError("relay.listen is off, so the socket that was passed is not used")
        }
        guard relay.listen != nil || socket != nil else { return nil }
        relay.token = settings.relayToken
        relay.version = tickertapeVersion
        self.settings = relay
        self.socket = socket
        self.isEncrypted = isEncrypted
    }

    /// Returns the address under which programs of this machine find the relay.
    ///
    /// - Parameter endpoint: the bound address; `nil` if it has a Unix socket only.
    func address(at endpoint: Endpoint?) -> UpstreamAddress? {
        guard let here = endpoint?.fromHere else {
            return self.socket.map { UpstreamAddress(socketPath: FilePath.absolute($0)) }
        }
        return UpstreamAddress(isEncrypted: self.isEncrypted, host: here.host, port: here.port)
    }

    /// Returns the relay's URL for clients.
    ///
    /// - Parameter endpoint: the bound address; `nil` before the relay listens, or if it has a Unix socket only.
    func url(at endpoint: Endpoint?) -> String {
        guard let endpoint = endpoint ?? self.settings.listen else { return "ws+unix:\(self.socket ?? "")" }
        return "\(self.isEncrypted ? "wss" : "ws")://\(endpoint)"
    }
}
