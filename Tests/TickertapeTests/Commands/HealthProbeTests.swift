import HTTP
import Dispatch
import Glibc
import NIOCore
import Testing
@testable import Tickertape

@Suite("The health check")
struct HealthProbeTests {
    /// Probes a server that answers one connection with the given bytes, and then closes it or hangs.
    ///
    /// The server has its own thread, since both sides block.
    private func probe(
        _ answer: String?,
        limit: TimeAmount = .seconds(5),
        hangs: Bool = false
    ) async -> Result<String, HealthProbe.Failure> {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = getsockname(listener, $0, &length)
            }
        }
        listen(listener, 1)
        let probed = DispatchSemaphore(value: 0)
        async let served: Void = Self.onThread {
            guard let answer else { return }
            let client = accept(listener, nil, nil)
            defer { close(client) }
            var request = [UInt8](repeating: 0, count: 1_024)
            let count = recv(client, &request, request.count, 0)
            let text = String(decoding: request.prefix(max(count, 0)), as: UTF8.self)
            #expect(text.hasPrefix("GET /livez HTTP/1.1\r\nHost: localhost:"))
            let bytes = Array(answer.utf8)
            send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if hangs { probed.wait() }
        }
        let endpoint = Endpoint(host: "localhost", port: Int(UInt16(bigEndian: address.sin_port)))
        let result: Result<String, HealthProbe.Failure>
        do throws(HealthProbe.Failure) {
            result = .success(try await HealthProbe(place: .endpoint(endpoint), limit: limit).statusLine())
        } catch {
            result = .failure(error)
        }
        probed.signal()
        await served
        close(listener)
        return result
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                body()
                continuation.resume()
            }
        }
    }

    @Test("a 200 is health")
    func healthy() async throws {
        #expect(try await self.probe("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").get() == "HTTP/1.1 200 OK")
    }

    @Test(
        "any other answer is not",
        arguments: [
            ("HTTP/1.1 503 no\r\n\r\n", #"does not answer as a relay does: "HTTP/1.1 503 Service Unavailable""#),
            ("", "broke off"), ("HTTP/1.1 2", "broke off"),
            ("garbage\n", "does not answer as a relay does: that is not HTTP"),
            (String(repeating: "x", count: 4_000), "does not answer as a relay does: that is not HTTP"),
        ]
    )
    func ill(answer: String, reason: String) async {
        let result = await self.probe(answer)
        let failure = #expect(throws: HealthProbe.Failure.self) { try result.get() }
        #expect(failure?.reason == reason)
    }

    @Test("that of a relay with TLS names the setting that is missing")
    func encrypted() async {
        let result = await self.probe("HTTP/1.1 400 Bad Request\r\n\r\n")
        let failure = #expect(throws: HealthProbe.Failure.self) { try result.get() }
        #expect(failure?.reason.contains("set relay.certificate-file") == true)
    }

    @Test("an answer that does not come, or not to its end, is given up in time")
    func silent() async {
        for answer in [nil, "", "HTTP/1.1 2"] {
            let result = await self.probe(answer, limit: .seconds(1), hangs: true)
            let failure = #expect(throws: HealthProbe.Failure.self) { try result.get() }
            #expect(failure?.reason == "does not answer in time")
        }
    }

    @Test("reports that nothing listens")
    func nobody() async {
        let failure = await #expect(throws: HealthProbe.Failure.self) {
            try await HealthProbe(place: .endpoint(Endpoint(host: "::1", port: 1)), limit: .seconds(1)).statusLine()
        }
        #expect(failure?.reason.hasPrefix("cannot be reached") == true)
    }
}
