import NIOCore

/// The addresses of this machine's interfaces: what is sent to one of them stays on the machine.
enum OwnAddresses {
    static func contain(_ host: String) -> Bool {
        // In the system's spelling, of which there is one for each address.
        guard let wanted = try? SocketAddress(ipAddress: host, port: 0).ipAddress,
            let devices = try? System.enumerateDevices()
        else { return false }
        return devices.contains { $0.address?.ipAddress == wanted }
    }
}
