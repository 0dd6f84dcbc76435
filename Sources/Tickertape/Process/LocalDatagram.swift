import Glibc

/// Datagrams to a program of this machine, by a local socket's address.
enum LocalDatagram {
    /// Sends a datagram; returns whether the socket has taken it.
    ///
    /// - Parameters:
    ///   - address: a path, or an abstract name, which begins with 0; at most 106 bytes (unix(7)).
    ///   - waits: whether it waits while the socket's queue is full.
    static func send(_ bytes: [UInt8], to address: [UInt8], waits: Bool) -> Bool {
        guard let first = address.first, address.count < 107 else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        // The length delimits an abstract name.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + address.count + (first == 0 ? 0 : 1))
        let flags = Int32(waits ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT)
        while true {
            let sent = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, bytes, bytes.count, flags, $0, length)
                }
            }
            if sent < 0, errno == EINTR { continue }
            return sent == bytes.count
        }
    }
}
