import Glibc
import Testing

/// Two ends of a connection with small buffers.
final class Line {
    let near: CInt
    private(set) var far: CInt

    init() throws {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_STREAM.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        (self.near, self.far) = (ends[0], ends[1])
        var size: CInt = 8 << 10
        setsockopt(self.near, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit {
        close(self.near)
        if self.far >= 0 { close(self.far) }
    }

    func hangUp() {
        close(self.far)
        self.far = -1
    }

    func read() -> [UInt8] {
        var all: [UInt8] = []
        var some = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            let count = recv(self.far, &some, some.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return all }
            all += some[..<count]
        }
    }
}
