// Answers every request with what it was read as, and says on which port.
const server = require('node:http').createServer((request, response) => {
  const body = [];
  request.on('data', (piece) => body.push(piece));
  request.on('end', () => {
    response.end(JSON.stringify([request.method, request.url, Buffer.concat(body).toString('base64')]));
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume(); // with the test
