/// The program that holds a key, as it tells others in the lock's file.
package struct KeyOwner: Sendable, Equatable {
    /// Where others can have its trades.
    package enum Relay: Sendable, Equatable {
        /// Not yet said: it has just started.
        case unknown
        /// It has none.
        case off
        case at(UpstreamAddress)
    }

    package var pid: Int32
    package var relay: Relay

    package init(pid: Int32, relay: Relay) {
        self.pid = pid
        self.relay = relay
    }

    /// The contents of the lock's file: `name=value` lines.
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

    /// Reads the contents of the lock's file; `nil` while the owner is at writing them, or when they make no sense.
    package init?(text: String) {
        guard text.hasSuffix("\n") else { return nil }
        var values: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { return nil }
            values[line[..<equals]] = line[line.index(after: equals)...]
        }
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
            // The trades are asked for without encryption or a look at the certificate: nowhere but here.
            guard
                host.lowercased() == "localhost" || host == "::1" || (address.isIPAddress && host.hasPrefix("127."))
                    || OwnAddresses.contain(host)
            else {
                return nil
            }
            self.init(pid: pid, relay: .at(address))
        case "socket":
            guard let path = values["path"].map(String.init), path.hasPrefix("/") else { return nil }
            self.init(pid: pid, relay: .at(UpstreamAddress(socketPath: path)))
        case .some:
            return nil
        }
    }
}

/// Whose a key is, found out by asking for it.
package enum KeyClaim: Sendable, Equatable {
    /// This program's, from now on.
    case mine
    /// Another program's; `nil` while it has not said more.
    case others(KeyOwner?)
}

/// The right to use a key, of which one program on a machine has it at a time.
package protocol KeyOwnership: Sendable {
    /// Takes the key if it is free, and answers whose it is. May be called again and again.
    func claim() -> KeyClaim
    /// Gives the key up.
    func release()
}
