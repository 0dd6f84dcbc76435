import Glibc
import NIOCore

/// A port of 127.0.0.1 that the system assigns to no other socket, and on which another program may listen meanwhile.
///
/// The socket is bound but does not listen. Linux then lets a second socket with `SO_REUSEADDR` bind the port, as
/// service managers do, but does not choose it for port 0 or for the local end of a connection (socket(7)).
struct ReservedPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var isReused: Int32 = 1
        setsockopt(self.descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        let free = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let descriptor = self.descriptor
        var bound = [UInt8](repeating: 0, count: 128)
        var size = socklen_t(bound.count)
        let isBound = free.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
        let isNamed = bound.withUnsafeMutableBytes { bytes in
            getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size) == 0
        }
        guard isBound, isNamed else {
            let code = errno
            close(descriptor)
            throw IOError(errnoCode: code, reason: "reserving a port")
        }
        // After the two bytes of the family, in network byte order (ip(7)).
        self.number = Int(bound[2]) << 8 | Int(bound[3])
    }

    func giveUp() { close(self.descriptor) }
}
