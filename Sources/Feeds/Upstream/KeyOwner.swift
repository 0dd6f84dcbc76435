import HTTP

/// The program that holds a key, as the lock's file describes it.
package struct KeyOwner: Sendable, Equatable {
    /// Where other programs can get the owner's trades.
    package enum Relay: Sendable, Equatable {
        /// Not announced yet: the owner has just started.
        case unknown
        /// The owner has no relay.
        case off
        case at(UpstreamAddress)
    }

    package var pid: Int32
    package var relay: Relay

    package init(pid: Int32, relay: Relay) {
        self.pid = pid
        self.relay = relay
    }

    /// The content of the lock's file: `name=value` lines.
    package var text: String {
        let head = "pid=\(self.pid)\n"
        return switch self.relay {
        case .unknown: head
        case .off: head + "relay=off\n"
        case .at(let address):
            if let path = address.socketPath {
                head + "relay=socket\npath=\(path)\n"
            } else {
                head + "relay=on\nhost=\(address.host)\nport=\(address.port)\n"
                    + (address.isEncrypted ? "tls=on\n" : "")
            }
        }
    }

    /// Reads the content of the lock's file; `nil` while the owner is writing it, or if it is invalid.
    package init?(text: String) {
        guard let values = [Substring: Substring](namedValues: text[...]) else { return nil }
        guard let pid = values["pid"].flatMap({ Int32($0) }), pid > 0 else { return nil }
        switch values["relay"] {
        case nil:
            self.init(pid: pid, relay: .unknown)
        case "off":
            self.init(pid: pid, relay: .off)
        case "on":
            guard let host = values["host"].map(String.init), let port = values["port"].flatMap({ UInt16($0) }),
                port > 0
            else { return nil }
            let address = UpstreamAddress(isEncrypted: values["tls"] == "on", host: host, port: Int(port))
            // The connection has no encryption, or no check of the certificate, so the address must be on this machine.
            guard LoopbackHost.contains(host) || OwnAddresses.contain(host) else { return nil }
            self.init(pid: pid, relay: .at(address))
        case "socket":
            guard let path = values["path"].map(String.init), path.hasPrefix("/") else { return nil }
            self.init(pid: pid, relay: .at(UpstreamAddress(socketPath: path)))
        case .some:
            return nil
        }
    }
}

/// The owner of a key, determined by an attempt to take it.
package enum KeyClaim: Sendable, Equatable {
    /// This program owns the key from now on.
    case mine
    /// Another program owns the key; `nil` until it has described itself.
    case others(KeyOwner?)
}

/// The right to use a key, which one program on a machine holds at a time.
package protocol KeyOwnership: Sendable {
    /// Takes the key if it is free, and returns its owner. May be called repeatedly.
    func claim() -> KeyClaim
    /// Releases the key.
    func release()
}
