import HTTP
import Glibc
import Market
import NIOConcurrencyHelpers
import NIOPosix
import Platform
import ServiceLifecycle
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("The service manager")
struct ServiceManagerTests {
    private func processEnvironment(_ environment: [String: String]) -> ProcessEnvironment {
        ProcessEnvironment(variable: { environment[$0] }, userID: 1, processID: 99, parentID: 1, hasTerminal: false)
    }

    /// Returns a datagram socket at a path; a leading NUL makes an abstract one.
    private func receiver(at path: [UInt8]) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(descriptor >= 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (path[0] == 0 ? 0 : 1))
        let isBound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        try #require(isBound)
        return descriptor
    }

    private func received(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test("receives a datagram, at a path or at an abstract name")
    func tells() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let name = "tickertape-test-\(getpid())"
        for (address, path) in [
            ("\(folder.path)/notify", Array("\(folder.path)/notify".utf8)), ("@\(name)", [0] + Array(name.utf8)),
        ] {
            let descriptor = try self.receiver(at: path)
            defer { close(descriptor) }
            let worker = HeldWork()
            let manager = ServiceManager(self.processEnvironment(["NOTIFY_SOCKET": address]), worker: worker)
            #expect(manager.isThere)
            manager.notify("READY=1", "STATUS=x")
            #expect(self.received(descriptor) == "READY=1\nSTATUS=x")
            manager.statusChanged(FeedStatus(source: .live, phase: .live, since: 0))
            manager.statusChanged(
                FeedStatus(source: .live, phase: .stale, since: 0, reason: "no\ntrades", via: "host-a")
            )
            #expect(self.received(descriptor) == "", "the caller's thread sends nothing")
            #expect(worker.run() == 1)
            #expect(self.received(descriptor) == "STATUS=stale, via host-a: no\u{240A}trades")
            #expect(self.received(descriptor) == "")
        }
    }

    @Test("is not there without an address that can be used")
    func absent() {
        for environment in [
            [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "vsock:2:1"],
            ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)],
        ] {
            let manager = ServiceManager(self.processEnvironment(environment))
            #expect(!manager.isThere)
            manager.notify("READY=1")
        }
    }

    @Test("wants its sign of life at half the time it names, and only from the process it means")
    func watchdog() {
        #expect(ServiceManager(self.processEnvironment([:])).watchdogInterval == nil)
        let interval = ServiceManager(self.processEnvironment(["WATCHDOG_USEC": "30000000"])).watchdogInterval
        #expect(interval == .seconds(15))
        let mine = ServiceManager(self.processEnvironment(["WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "99"]))
        #expect(mine.watchdogInterval == .seconds(2))
        let other = ServiceManager(self.processEnvironment(["WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "98"]))
        #expect(other.watchdogInterval == nil)
        #expect(ServiceManager(self.processEnvironment(["WATCHDOG_USEC": "soon"])).watchdogInterval == nil)
    }

    @Test("takes passed sockets for its own only where they are meant for this process")
    func offers() throws {
        #expect(try InheritedSocket.offer(self.processEnvironment([:])) == nil)
        #expect(try InheritedSocket.offer(self.processEnvironment(["LISTEN_FDS": "1"])) == nil)
        #expect(try InheritedSocket.offer(self.processEnvironment(["LISTEN_PID": "98", "LISTEN_FDS": "1"])) == nil)
        #expect(try InheritedSocket.offer(self.processEnvironment(["LISTEN_PID": "99", "LISTEN_FDS": "0"])) == nil)
        let one = try InheritedSocket.offer(self.processEnvironment(["LISTEN_PID": "99", "LISTEN_FDS": "1"]))
        #expect(one == InheritedSocket.Offer(descriptors: 3..<4, names: []))
        let two = try InheritedSocket.offer(
            self.processEnvironment(["LISTEN_PID": "99", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a:relay"])
        )
        #expect(two == InheritedSocket.Offer(descriptors: 3..<5, names: ["a", "relay"]))
        for count in ["x", "-1", "1001", "", "99999999999"] {
            #expect(throws: OperatorError.self) {
                try InheritedSocket.offer(self.processEnvironment(["LISTEN_PID": "99", "LISTEN_FDS": count]))
            }
        }
    }

    @Test("may pass one socket, or several of which one is named for the relay")
    func chooses() throws {
        func choose(_ count: Int32, _ names: String...) throws -> Int32 {
            try InheritedSocket.choose(InheritedSocket.Offer(descriptors: 3..<3 + count, names: names))
        }
        #expect(try choose(1) == 3)
        #expect(try choose(1, "tickertape.socket") == 3)
        #expect(try choose(3, "a", "relay", "b") == 4)
        #expect(throws: OperatorError.self) { try choose(2) }
        #expect(throws: OperatorError.self) { try choose(2, "a", "b") }
        #expect(throws: OperatorError.self) { try choose(2, "relay", "relay") }
    }

    @Test("overrides relay.listen, and a difference from a configured value is reported")
    func mismatch() throws {
        let socket = InheritedSocket(descriptor: 3, place: .internet(Endpoint(host: "127.0.0.1", port: 8_080)))
        func reported(_ listen: String, isChosen: Bool = true) throws -> [String] {
            var reported: [String] = []
            let listen = try #require(Endpoint(listen))
            let endpoint = socket.endpoint(listen: listen, isChosen: isChosen) { reported.append($0) }
            #expect(endpoint == Endpoint(host: "127.0.0.1", port: 8_080))
            return reported
        }
        #expect(try reported("127.0.0.1:8080").isEmpty)
        #expect(try reported("localhost:8080").isEmpty)
        #expect(try reported("127.0.0.1:0").isEmpty)
        #expect(try reported("127.0.0.1:9000", isChosen: false).isEmpty)
        #expect(try reported("127.0.0.1:9000").count == 1)
        #expect(try reported("[::1]:8080").count == 1)
    }
}

/// A disk worker that does its work when the test lets it.
private final class HeldWork: DiskWorker {
    private let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])

    func submit(_ work: @escaping @Sendable () -> Void) { self.waiting.withLockedValue { $0.append(work) } }

    /// Does the work submitted so far; returns how many pieces there were.
    func run() -> Int {
        let works = self.waiting.withLockedValue { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in works { work() }
        return works.count
    }
}
