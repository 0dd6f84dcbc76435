import Glibc
import NIOCore

/// A port of 127.0.0.1 that the system gives to nobody else, and at which another program may listen meanwhile.
///
/// It is bound and not listened at: Linux lets a second socket with `SO_REUSEADDR` have it then, as service managers open
/// theirs, and takes it neither for one of port 0 nor for the near end of a connection (socket(7)).
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
        // Behind the family's two bytes, the more significant one first (ip(7)).
        self.number = Int(bound[2]) << 8 | Int(bound[3])
    }

    func giveUp() { close(self.descriptor) }
}
