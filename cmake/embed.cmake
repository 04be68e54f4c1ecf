# Turns a text file into a C++ constant: cmake -DINPUT=page.html.in -DOUTPUT=page.cpp -DNAME=kPage -P embed.cmake
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "namespace moe {\nextern const char* const ${NAME};\nconst char* const ${NAME} = R\"embedded(${text})embedded\";\n}\n")
