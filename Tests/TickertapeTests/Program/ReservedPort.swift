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
        var bound = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = free.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
        let isNamed = withUnsafeMutablePointer(to: &bound) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) } == 0
        }
        guard isBound, isNamed else {
            close(descriptor)
            throw IOError(errnoCode: errno, reason: "reserving a port")
        }
        self.number = Int(UInt16(bigEndian: bound.sin_port))
    }

    func giveUp() { close(self.descriptor) }
}
