import NIOCore

/// The addresses of this machine's interfaces. What is sent to one of them stays on the machine.
enum OwnAddresses {
    static func contain(_ host: String) -> Bool {
        // The system spells each address in exactly one way, so the texts can be compared.
        guard let wanted = try? SocketAddress(ipAddress: host, port: 0).ipAddress,
            let devices = try? System.enumerateDevices()
        else { return false }
        return devices.contains { $0.address?.ipAddress == wanted }
    }
}
