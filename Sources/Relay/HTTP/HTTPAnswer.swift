import NIOCore
import NIOHTTP1

/// An answer of the relay's HTTP, with its body in memory.
struct HTTPAnswer: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: ByteBuffer

    /// - Parameter headers: those before `Content-Length`, which is the body's.
    init(status: HTTPResponseStatus = .ok, headers: HTTPHeaders, body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
        self.headers.add(name: "Content-Length", value: String(body.readableBytes))
    }

    /// An answer that is true at this moment only.
    static func fresh(status: HTTPResponseStatus = .ok, _ type: String, _ body: ByteBuffer) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: body)
    }

    /// JSON with a tag; only the tag where the asker has the same already.
    static func tagged(_ body: ByteBuffer, for head: HTTPRequestHead) -> HTTPAnswer {
        let tag = EntityTag(of: body)
        let headers: HTTPHeaders = ["ETag": tag.text, "Cache-Control": "no-cache"]
        if tag.isNamed(in: head) { return HTTPAnswer(status: .notModified, headers: headers) }
        var answer = HTTPAnswer(headers: headers, body: body)
        answer.headers.add(name: "Content-Type", value: "application/json")
        return answer
    }

    init(_ refusal: HTTPRefusal) {
        var headers = refusal.headers
        headers.add(name: "Content-Type", value: "application/json")
        headers.add(name: "Cache-Control", value: "no-store")
        self.init(status: refusal.status, headers: headers, body: refusal.body)
    }
}
