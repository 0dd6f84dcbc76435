package import NIOCore
package import NIOHTTP1

/// A response of a server, with its body in memory.
package struct HTTPAnswer: Sendable, Equatable {
    package var status: HTTPResponseStatus
    package var headers: HTTPHeaders
    package var body: ByteBuffer

    /// - Parameter headers: all except `Content-Length`, which is computed from the body.
    package init(status: HTTPResponseStatus = .ok, headers: HTTPHeaders, body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
        self.headers.add(name: "Content-Length", value: String(body.readableBytes))
    }

    /// Makes a response that must not be cached.
    package static func fresh(status: HTTPResponseStatus = .ok, _ type: String, _ body: ByteBuffer) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: body)
    }

    /// Makes a JSON response with an entity tag; only the tag (304) where the client has the same body.
    package static func tagged(_ body: ByteBuffer, for head: HTTPRequestHead) -> HTTPAnswer {
        let tag = EntityTag(of: body)
        let headers: HTTPHeaders = ["ETag": tag.text, "Cache-Control": "no-cache"]
        if tag.isNamed(in: head) { return HTTPAnswer(status: .notModified, headers: headers) }
        var answer = HTTPAnswer(headers: headers, body: body)
        answer.headers.add(name: "Content-Type", value: "application/json")
        return answer
    }
}
