import Glibc
import NIOConcurrencyHelpers
import NIOCore
import Testing
import TickertapeTesting
@testable import Feeds

@Suite("Connecting to a Unix socket", .timeLimit(.minutes(1 * Patience.factor)))
struct SocketPathConnectorTests {
    @Test(
        "a path on a disk that hangs ends at the limit and not on the loop; a connection that comes too late is closed"
    )
    func hangs() async throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (ends[0], ends[1])
        defer { close(far) }
        let disk = HangingDisk()
        let opened = NIOLockedValueBox(0)
        let sockets = SocketPathConnector { path in
            opened.withLockedValue { $0 += 1 }
            guard path == "/hanging.sock" else { return try SocketPathConnector.open(path) }
            disk.wait()
            return near
        }
        let hanging = try Self.connector("/hanging.sock", sockets, limit: .milliseconds(50))
        disk.hang()
        defer { disk.goOn() }
        for _ in 0..<2 {
            // The limit is a timer of the loop that connects.
            #expect(
                try await Attempt.run(hanging)?.description
                    == "no answer from /hanging.sock within 50 ms: is the network up?"
            )
        }
        #expect(disk.waitingThreads == 1)
        disk.goOn()
        let next = try Self.connector("/nowhere.sock", sockets, limit: .seconds(30))
        #expect(
            try await Attempt.run(next)?.description == "cannot connect to /nowhere.sock: No such file or directory"
        )
        // Not the one that waited until its limit was over.
        #expect(opened.withLockedValue { $0 } == 2)
        var byte: UInt8 = 0
        var polled = pollfd(fd: far, events: Int16(POLLIN), revents: 0)
        #expect(poll(&polled, 1, 30_000) == 1 && read(far, &byte, 1) == 0)
    }

    private static func connector(
        _ path: String,
        _ sockets: SocketPathConnector,
        limit: TimeAmount
    ) throws -> UpstreamConnector {
        try Attempt.connector(port: 1, sockets: sockets) { settings in
            settings.address = UpstreamAddress(socketPath: path)
            settings.dial.tcpTimeout = limit
        }
    }
}
